import type { LoggedEvent } from '#catalogue';
import { packEvents } from '#counting';
import { newId } from '#lib/ids';
import { addDays, DAY_MS, dayIn } from '#lib/time';
import { eventOf, installOf, newDevice, startCounter } from './counter.ts';
import { pick, seededRandom } from './random.ts';
import { settleAll } from './settle.ts';
import type { Tenant } from './tenant.ts';

/** Devices acquired `ago` days ago. `payers` of them purchase occasionally, some of them on many days. */
export async function sendCohort(
  tenant: Tenant,
  options: {
    ago: number;
    devices: number;
    payers: number;
    creativeId?: string;
    currency?: string;
    once?: boolean;
    /** Every device sees an ad worth so many billionths on each day that it is active: a share of all that falls with time. */
    adNanos?: number;
    /** Nobody does anything from so many days after the acquisition on. */
    until?: number;
  },
) {
  const { ago, devices, payers, creativeId = null, currency = 'usd', once = false, adNanos = 0 } = options;
  const end = Math.min(ago, options.until ?? ago);
  // Each device has its own, so that its past does not depend on how far the others go.
  const randomOf = (index: number) => seededRandom(1_000 * (ago + devices) + index);
  const counter = startCounter(tenant.application.id);
  const acquiredDay = addDays(dayIn('UTC', Date.now()), -ago);
  const made = Array.from({ length: devices }, () =>
    newDevice({ acquiredDay, acquiredAt: Date.parse(`${acquiredDay}T10:00:00Z`), creativeId }),
  );
  const installs = made.map((device) => installOf(tenant.application.id, device));
  await counter.stub().createOrFindDevices(
    1,
    made.map((device) => ({ alias: null, device })),
    packEvents(tenant.application.id, installs),
  );
  const events: LoggedEvent[] = [];
  let revenue = 0;
  for (const [index, device] of made.slice(0, payers).entries()) {
    const random = randomOf(index);
    const leaves = once ? 1 : 0.05 + 0.3 * random();
    for (let age = Math.floor(Math.min(5, ago) * random()); age <= end; age += 1 + Math.floor(8 * random())) {
      const value = pick(random, [1.99, 4.99, 9.99]);
      revenue += value;
      events.push(
        eventOf(tenant.application.id, device, 'custom.purchase', {
          id: newId('evt'),
          day: addDays(acquiredDay, age),
          occurred_at: Date.parse(`${acquiredDay}T12:00:00Z`) + age * DAY_MS,
          value_nanos: Math.round(value * 1e9),
          currency,
        }),
      );
      if (random() < leaves) break;
    }
  }
  let adRevenue = 0;
  for (const [index, device] of (adNanos > 0 ? made : []).entries()) {
    const random = randomOf(devices + index);
    for (let age = 0; age <= end; age++) {
      if (age > 0 && random() > 0.4 * age ** -0.5) continue;
      adRevenue += adNanos / 1e9;
      events.push(
        eventOf(tenant.application.id, device, 'custom.ad', {
          id: newId('evt'),
          day: addDays(acquiredDay, age),
          occurred_at: Date.parse(`${acquiredDay}T12:00:00Z`) + age * DAY_MS,
          value_nanos: adNanos,
          currency,
        }),
      );
    }
  }
  await counter.append(events);
  // A report waits two seconds for them to be counted, which a busy machine exceeds.
  await settleAll(tenant.application.id);
  return { revenue, adRevenue };
}
