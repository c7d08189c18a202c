import { summarise } from '#catalogue';
import type { ShownStatus } from '#events';
import { money } from './format.ts';

export type ShownEvent = Record<string, unknown>;

/** A field of an event as text; empty where it is none. */
export const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** What an event is about, in a line. */
export const summary = (event: ShownEvent): string =>
  summarise(
    { ...event, type: text(event.type) },
    typeof event.value === 'number' ? money(event.value, text(event.currency) || 'usd') : '',
  );

const STATUSES: Record<ShownStatus, { label: string; kind: string; hint: string }> = {
  queued: { label: 'Queued', kind: 'waiting', hint: 'Received and safe; it waits to be counted' },
  counted: { label: 'Counted', kind: 'good', hint: 'In every report' },
  duplicate: { label: 'Duplicate', kind: '', hint: 'A repeat of an event that was counted before' },
  ignored: { label: 'Not counted', kind: '', hint: 'Kept, but in no report: open it for the reason' },
  parked: { label: 'Parked', kind: 'bad', hint: 'Could not be counted: see Health' },
};

/** What became of an event. */
export const StatusBadge = ({ status }: { status: unknown }) => {
  const known = typeof status === 'string' && Object.hasOwn(STATUSES, status);
  const { label, kind, hint } = STATUSES[known ? (status as ShownStatus) : 'queued'];
  return (
    <span class={`badge ${kind}`} title={hint}>
      {label}
    </span>
  );
};
