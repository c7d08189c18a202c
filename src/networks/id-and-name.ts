/** What is known by an id and a name: a campaign, an ad set, an ad or a creative. */
export type IdAndName = { id: string; name: string };
