/** Lets other requests in, and the clock go on, which stands still between two awaits. */
export const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
