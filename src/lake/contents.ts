import { DEVICE_DIMENSIONS, ofDimensions, SEGMENT } from '#catalogue';
import { makeDeviceFilter } from './device-filter.ts';
import type { FileEntry, FileSource, StoredEvent } from './entry.ts';

/** What an index knows about the events of a file. */
export type Contents = Omit<
  FileEntry,
  keyof FileSource | 'key' | 'revision' | 'bytes' | 'footerBytes' | 'replaces'
>;

/** Collects what an index knows about events, except for their devices. */
export class ContentsBuilder {
  private rows = 0;
  private readonly span = {
    firstReceivedAt: Number.POSITIVE_INFINITY,
    lastReceivedAt: Number.NEGATIVE_INFINITY,
    firstDay: '9999-99-99',
    lastDay: '',
    firstEventId: '~',
    lastEventId: '',
    types: {} as Contents['types'],
  };
  private readonly values = ofDimensions(DEVICE_DIMENSIONS, () => new Set<string>());

  add(event: StoredEvent): void {
    const { id, day, received_at, type } = event;
    const { span } = this;
    this.rows++;
    span.firstReceivedAt = Math.min(span.firstReceivedAt, received_at);
    span.lastReceivedAt = Math.max(span.lastReceivedAt, received_at);
    if (day < span.firstDay) span.firstDay = day;
    if (day > span.lastDay) span.lastDay = day;
    if (id < span.firstEventId) span.firstEventId = id;
    if (id > span.lastEventId) span.lastEventId = id;
    span.types[type] = (span.types[type] ?? 0) + 1;
    for (const name of DEVICE_DIMENSIONS) this.values[name].add(event[SEGMENT[name].field] ?? '');
  }

  contents(deviceIds: ReadonlySet<string>): Contents {
    return {
      rows: this.rows,
      ...this.span,
      values: ofDimensions(DEVICE_DIMENSIONS, (name) => [...this.values[name]].sort()),
      deviceFilter: makeDeviceFilter(deviceIds),
    };
  }
}
