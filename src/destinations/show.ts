import { shownCountry } from '#catalogue';
import { iso, isoOrNull } from '#lib/time';
import type { Delivery, Destination, TestResult } from './answers.ts';
import type { DestinationRow } from './destinations.ts';
import type { Attempt, StoredDelivery } from './object/api.ts';

export function showDestination(row: DestinationRow): Destination {
  const { filter } = row;
  return {
    ...{ id: row.id, application_id: row.applicationId, kind: row.kind },
    url: row.settings.url ?? null,
    ...{ settings: row.settings, events: row.events },
    filter: { ...filter, ...(filter.country === undefined ? {} : { country: shownCountry(filter.country) }) },
    ...{ enabled: row.offSince === null, off_since: isoOrNull(row.offSince), off_reason: row.offReason },
    created_at: iso(row.createdAt),
  };
}

const showAttempt = ({ at, tookMs, status, reason, request, answer }: Attempt) => ({
  ...{ at: iso(at), duration_ms: tookMs, status, error: reason, request, answer },
});

export const showDelivery = (row: StoredDelivery): Delivery => ({
  ...{ event_id: row.eventId, type: row.type, status: row.status, reason: row.reason },
  next_attempt_at: isoOrNull(row.dueAt),
  attempts: row.attempts.map(showAttempt),
});

export function showTest(result: Attempt | { skipped: string }): TestResult {
  if ('skipped' in result) return { delivered: false, error: result.skipped, attempt: null };
  return { delivered: result.reason === null, error: result.reason, attempt: showAttempt(result) };
}
