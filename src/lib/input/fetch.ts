/** `fetch`, or its stand-in. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
