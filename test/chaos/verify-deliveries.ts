import type { ChaosReceiver, Received } from './receiver.ts';

/** What was counted: how often, and for how much. */
type Counted = { times: number; nanos: number };

function faultsOf(events: readonly Received[], { times, nanos }: Counted): string[] {
  return [
    ...(events.length === times ? [] : [`delivered under ${events.length} ids`]),
    ...(events.every(({ isTaken }) => isTaken) ? [] : ['never taken by the receiver']),
    ...events
      .filter((event) => event.nanos !== nanos)
      .map((event) => `delivered with ${event.nanos} instead of ${nanos} billionths`),
  ];
}

/** Compares what a destination was sent with what was counted, event by event. `counted`: the ads and purchases by name. */
export function deliveryFaults(
  { received, violations }: ChaosReceiver,
  counted: ReadonlyMap<string, Counted>,
  installs: number,
): string[] {
  const byName = Map.groupBy(received.values(), ({ type, name }) => (type === 'install' ? type : name));
  const installed = byName.get('install') ?? [];
  byName.delete('install');
  const devices = new Set(installed.map(({ name }) => name)).size;
  const ofInstalls = [
    ...(devices === installs ? [] : [`delivered of ${devices} devices`]),
    ...faultsOf(installed, { times: installs, nanos: 0 }),
  ];
  const faults = [...counted].flatMap(([name, own]) => {
    const events = byName.get(name) ?? [];
    byName.delete(name);
    return faultsOf(events, own).map((fault) => `${name} was counted ${own.times} times and ${fault}`);
  });
  return [
    ...violations,
    ...faults,
    ...ofInstalls.map((fault) => `${installs} installs were counted and ${fault}`),
    ...[...byName.keys()].map((name) => `${name} was delivered but never sent`),
  ];
}
