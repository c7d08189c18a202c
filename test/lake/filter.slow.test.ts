import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type EventFilter, readEvents, type StoredEvent, writeFiles } from '#lake';
import { isDay } from '#lib/time';
import { arbitraryEvent } from './arbitrary-event.ts';
import { MemoryBucket } from './memory-bucket.ts';

// A filter skips files, row groups and rows by what their index entry, statistics and cells say. Whatever values events have, even those
// that fit no column, it finds the same events as a look at each of them.

const versionOf = (event: StoredEvent) => ('device' in event && event.device?.app_version) || '';
const deviceOf = (event: StoredEvent) => ('device_id' in event ? event.device_id : undefined);
const nameOf = (event: StoredEvent) => ('event_name' in event ? event.event_name : undefined);

type Case = [filter: EventFilter, isMeant: (event: StoredEvent) => boolean];

/** The filters that an event's own values suggest. */
function casesOf(sample: StoredEvent): Case[] {
  const { id, type, day, creative_id: creative, country = '', os_family: os = '', network = '' } = sample;
  const [device, name, version] = [deviceOf(sample), nameOf(sample), versionOf(sample)];
  return [
    [{ eventId: id }, (event) => event.id === id],
    [{ type }, (event) => event.type === type],
    ...(isDay(day)
      ? ([
          [{ from: day }, (event) => event.day >= day],
          [{ to: day }, (event) => event.day <= day],
          [{ from: day, to: day }, (event) => event.day === day],
        ] satisfies Case[])
      : []),
    ...(device ? ([[{ deviceId: device }, (event) => deviceOf(event) === device]] satisfies Case[]) : []),
    ...(name ? ([[{ eventName: name }, (event) => nameOf(event) === name]] satisfies Case[]) : []),
    ...(creative
      ? ([[{ creativeIds: [creative] }, (event) => event.creative_id === creative]] satisfies Case[])
      : []),
    [{ attribution: 'paid' }, (event) => event.creative_id !== null],
    [{ attribution: 'organic' }, (event) => event.creative_id === null],
    [{ segment: { app_version: [version] } }, (event) => versionOf(event) === version],
    [{ segment: { country: [country] } }, (event) => (event.country ?? '') === country],
    [{ segment: { os: [os] } }, (event) => (event.os_family ?? '') === os],
    [{ segment: { network: [network] } }, (event) => (event.network ?? '') === network],
  ];
}

/** A version that no column can hold, beside another event. */
const UNUSUAL_VERSION: StoredEvent[] = ['1.0', '1.\ud800'].map((version, index) => ({
  id: `evt_${String(index).repeat(32)}`,
  application_id: 'app_1',
  day: '2026-01-01',
  occurred_at: index,
  received_at: index,
  type: 'install',
  device_id: `dev_${'1'.repeat(32)}`,
  creative_id: null,
  acquired_day: '2026-01-01',
  device: { app_version: version },
}));

it('finds exactly the events that match, whatever their values', async () => {
  const history = fc.uniqueArray(arbitraryEvent, { selector: ({ id }) => id, minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(history, fc.nat(), async (events, choice) => {
      const sample = events[choice % events.length];
      if (!sample) return;
      const bucket = new MemoryBucket();
      const entries = await writeFiles(bucket, { applicationId: 'app_1', shard: 0 }, [events]);
      for (const [filter, isMeant] of casesOf(sample)) {
        const page = await readEvents(bucket, entries, filter, { limit: 100, cursor: '' });
        const expected = events.filter(isMeant).map(({ id }) => id);
        expect(
          page.events.map(({ id }) => id),
          JSON.stringify(Object.keys(filter)),
        ).toEqual(expected.sort().reverse());
      }
    }),
    { numRuns: 60, examples: [[UNUSUAL_VERSION, 1]] },
  );
});
