/** What may have become of an event for a destination. `skipped`: it lacks what the destination needs, or may not be sent. */
export const STATUSES = ['pending', 'delivered', 'failed', 'skipped'] as const;
