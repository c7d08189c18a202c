import { DEFAULT_LOAD, type Load } from './capacity/compute.ts';
import { capacityTable, describeCapacity } from './capacity/show.ts';
import { runCommand, UsageError } from './command.ts';

const USAGE = `Usage: npm run capacity -- [--events-per-day 1e9] [--applications 3] [--batch 1] [--queues 1] [--orgs 1]
       npm run capacity -- --table

Computes how full each limit of the platform is, from what the bench measured, and names the first that breaks. --events-per-install,
--clicks-per-install, --events-per-notification and --postbacks-per-install say what the events are like. --table prints the table of
docs/performance.md.`;

const NAMES = {
  'events-per-day': 'eventsPerDay',
  applications: 'applications',
  batch: 'batch',
  queues: 'queues',
  orgs: 'orgs',
  'events-per-install': 'eventsPerInstall',
  'clicks-per-install': 'clicksPerInstall',
  'events-per-notification': 'eventsPerNotification',
  'postbacks-per-install': 'postbacksPerInstall',
} as const satisfies Record<string, keyof Load>;

const MAY_BE_ZERO = new Set(['clicks-per-install', 'events-per-notification', 'postbacks-per-install']);

function loadOf(values: Record<string, unknown>): Load {
  const load = { ...DEFAULT_LOAD };
  for (const [option, name] of Object.entries(NAMES)) {
    const text = values[option];
    if (typeof text !== 'string') continue;
    const number = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(number) || number < 0 || (number < 1 && !MAY_BE_ZERO.has(option))) {
      throw new UsageError(`--${option} must be a number from 1, such as 1e9, not "${text}".`);
    }
    load[name] = number;
  }
  return load;
}

const text = { type: 'string' } as const;

await runCommand(
  {
    usage: USAGE,
    options: {
      ...{ 'events-per-day': text, applications: text, batch: text, queues: text, orgs: text },
      ...{ 'events-per-install': text, 'clicks-per-install': text },
      ...{ 'events-per-notification': text, 'postbacks-per-install': text },
      table: { type: 'boolean', default: false },
    },
  },
  async ({ values }) => console.log(values.table ? capacityTable() : describeCapacity(loadOf(values))),
);
