/** Yields to other requests. It also lets the clock advance, which stands still between two awaits. */
export const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
