import { expect } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { eventOf, startCounter } from './counter.ts';
import type { Tenant } from './tenant.ts';
import { startWorker } from './worker.ts';

const worker = startWorker();
const EVENTS_PER_MESSAGE = 400;

/** An ad view of a new device, acquired on 2012-01-01. */
export async function adView(tenant: Tenant): Promise<Extract<LoggedEvent, { type: 'custom.ad' }>> {
  const acquiredDay = '2012-01-01';
  const created = await startCounter(tenant.application.id).createDevice({
    acquiredDay,
    acquiredAt: Date.parse(`${acquiredDay}T10:00:00Z`),
  });
  if (created.outcome === 'moved') throw new Error('a new counter has one shard');
  const event = eventOf(tenant.application.id, created.device, 'custom.ad');
  if (event.type !== 'custom.ad') throw new Error('an ad view was made');
  return event;
}

export async function deliverInMessages(events: LoggedEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += EVENTS_PER_MESSAGE) {
    const body = { v: 1, events: events.slice(start, start + EVENTS_PER_MESSAGE) };
    const result = await worker.deliver([{ id: `m-${start}`, body }]);
    expect(result.retryMessages).toEqual([]);
  }
}

export async function report(tenant: Tenant, name: string, query: string) {
  const answer = await worker.team(
    tenant,
    `/v1/reports/${name}?application_id=${tenant.application.id}&${query}`,
  );
  expect(answer.status).toBe(200);
  return answer;
}

export const many = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index));
export const numbered = (event: LoggedEvent): LoggedEvent => ({ ...event, id: newId('evt') });
