import type { Rig } from './rig.ts';
import { BATCH_EVENTS, median } from './workload.ts';

/** How often `step` is called. */
export const CONSUMER_STEPS = 16;

type Consumed = { events: number; messages: number; milliseconds: number; rowsWritten: number };

/** What the consumer takes in and writes, and what a report costs before and after it has. */
export async function measureConsumer(rig: Rig, step: (what: string) => void) {
  const url = await rig.url('control');
  const call = async <Answer>(at: string, method = 'POST'): Promise<Answer> => {
    const response = await fetch(new URL(at, url), { method });
    if (!response.ok) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  const consume = (events: number, perMessage: number, days: number, seed: number) =>
    call<Consumed>(`/consume?events=${events}&per_message=${perMessage}&days=${days}&seed=${seed}`);
  const report = async () => {
    const times: number[] = [];
    for (let index = 0; index < 9; index++)
      times.push((await call<{ milliseconds: number }>('/report', 'GET')).milliseconds);
    return median(times);
  };
  step('devices');
  await call('/devices');
  step('10,000 events');
  await consume(10_000, BATCH_EVENTS, 30, 2);
  step('report over 10,000 events');
  const report10k = await report();
  const live = async (perMessage: number, firstSeed: number) => {
    const parts: Consumed[] = [];
    for (let part = 0; part < 5; part++) {
      step(`a day of events, ${perMessage} a message, part ${part + 1} of 5`);
      parts.push(await consume(60_000, perMessage, 1, firstSeed + part));
    }
    return parts;
  };
  const single = await live(1, 10);
  const batched = await live(BATCH_EVENTS, 20);
  step('a month of events');
  await consume(390_000, BATCH_EVENTS, 30, 30);
  step('report over 1,000,000 events');
  const report1m = await report();
  step('the same with ROAS');
  await call('/spend');
  const reportWithRoas = await report();
  const total = (parts: Consumed[], key: keyof Consumed) => parts.reduce((sum, part) => sum + part[key], 0);
  const rate = (parts: Consumed[]) =>
    median(parts.map(({ events, milliseconds }) => (events / milliseconds) * 1000));
  return {
    consumer_events_per_s: rate(batched),
    consumer_events_per_s_single: rate(single),
    rows_written_per_event_single: total(single, 'rowsWritten') / total(single, 'events'),
    rows_written_per_event_batch: total(batched, 'rowsWritten') / total(batched, 'events'),
    report_ms_10k: report10k,
    report_ms_1m: report1m,
    report_ms_ratio_1m_vs_10k: report1m / report10k,
    // With costs, and every other currency converted by the rate of each day of earning.
    report_with_roas_ms_1m: reportWithRoas,
  };
}
