import { createScheduledController } from 'cloudflare:test';

/** Times (epoch milliseconds) for which the cron is scheduled, by what runs beside the chores of every minute: see src/schedule.ts. */
export const MINUTES = {
  chores: Date.UTC(2026, 2, 1, 9, 1),
  'hourly chores': Date.UTC(2026, 2, 1, 9, 0),
  'exchange rates': Date.UTC(2026, 2, 1, 15, 30),
  snapshot: Date.UTC(2026, 2, 1, 2, 20),
  months: Date.UTC(2026, 2, 1, 9, 50),
} as const;

/** What the platform calls the Worker with in such a minute, whatever the time is. */
export const inMinuteOf = (work: keyof typeof MINUTES) =>
  createScheduledController({ cron: '* * * * *', scheduledTime: MINUTES[work] });
