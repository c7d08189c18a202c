import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { DOUBT_RULES, type DoubtFacts, doubtsOf, FLOODING, isFlooded, measureSourceDays } from '#catalogue';
import { runCommand, UsageError } from '../../src/cli/command.ts';

// Real input: the published sample of 100,000 clicks of TalkingData's fraud detection challenge (ip, app, device, os, channel, click_time,
// attributed_time, is_attributed), all of it as if it were one application whose creatives are the channels. It prints how many of the installs
// each rule doubts with its default threshold. Nothing is known of Google Play's times, and each click has at most one install.
//
//   npm run verify:clicks -- path/to/train_sample.csv

const HOUR_MS = 3_600_000;
/** The default probabilistic window, in which the clicks of an address are counted, and how many are. */
const WINDOW_MS = 24 * HOUR_MS;
const MAX_CLICKS = 200;

type Click = { address: string; channel: string; at: number; installedAt: number | null };

const timeOf = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`);

async function readClicks(file: string): Promise<Click[]> {
  const clicks: Click[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [address = '', , , , channel = '', clicked = '', attributed = '', isAttributed] = line
      .trim()
      .split(',');
    // The heading.
    if (!/^\d+$/.test(address)) continue;
    const installedAt = isAttributed === '1' ? timeOf(attributed) : null;
    clicks.push({ address, channel, at: timeOf(clicked), installedAt });
  }
  if (clicks.some(({ at, installedAt }) => Number.isNaN(at) || Number.isNaN(installedAt ?? 0))) {
    throw new UsageError(`${file} is not the sample: a time is missing`);
  }
  return clicks;
}

/** The facts of an install, as a service with all of these clicks would have them. */
function factsOf(
  { at, installedAt }: Click & { installedAt: number },
  ofAddress: readonly Click[],
): DoubtFacts {
  const since = installedAt - WINDOW_MS;
  const near = ofAddress.filter((click) => click.at >= since && click.at <= installedAt).length;
  return {
    ...{ clicked_at: at, first_opened_at: installedAt },
    ...{ play_clicked_at: null, play_install_began_at: null },
    ...{ earlier_installs: 0, address_clicks: Math.min(MAX_CLICKS, near) },
  };
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

function printRules(clicks: readonly Click[]): void {
  const byAddress = Map.groupBy(clicks, ({ address }) => address);
  const installs = clicks.flatMap((click) => {
    const { installedAt } = click;
    return installedAt === null ? [] : [{ ...click, installedAt }];
  });
  const judged = installs.map((install) =>
    doubtsOf(factsOf(install, byAddress.get(install.address) ?? []), {}),
  );
  console.log(`${clicks.length} clicks, ${installs.length} installs\n`);
  for (const { id, threshold } of DOUBT_RULES) {
    const doubted = judged.filter(({ doubts }) => doubts.some(({ rule }) => rule === id)).length;
    const unchecked = judged.filter(({ notChecked }) => notChecked.includes(id)).length;
    const limit = threshold ? ` (${threshold.label.toLowerCase()}: ${threshold.fallback})` : '';
    console.log(`${id}${limit}: ${doubted} doubted, ${unchecked} not checked`);
  }
  const any = judged.filter(({ doubts }) => doubts.length > 0).length;
  console.log(`any rule: ${any} doubted (${percent(any, installs.length)})\n`);

  const delays = installs.map(({ at, installedAt }) => (installedAt - at) / 1000).sort((a, b) => a - b);
  const at = (share: number) => delays[Math.ceil(share * delays.length) - 1] ?? 0;
  const within = (seconds: number) => delays.filter((delay) => delay < seconds).length;
  console.log(
    `seconds from the click to the install: least ${at(0.0001)}, median ${at(0.5)}, p95 ${at(0.95)}, most ${at(1)}`,
  );
  for (const seconds of [10, 30, 60, 3_600]) {
    console.log(`under ${seconds} s: ${within(seconds)} (${percent(within(seconds), delays.length)})`);
  }
}

function printFlooding(clicks: readonly Click[]): void {
  const days = [
    ...Map.groupBy(clicks, ({ channel, at }) => `${channel} on ${new Date(at).toISOString().slice(0, 10)}`),
  ].map(([day, own]) => ({
    day,
    clicks: own.length,
    delays: own.flatMap(({ at, installedAt }) =>
      installedAt === null ? [] : [{ seconds: (installedAt - at) / 1000, installs: 1 }],
    ),
  }));
  const judged = measureSourceDays(days.filter((day) => day.clicks >= FLOODING.minClicks)) ?? [];
  const flooded = judged.filter((day) => isFlooded(day, 20));
  const medianConversion = judged[0]?.usual_conversion ?? null;
  const installs = flooded.reduce((sum, day) => sum + day.installs, 0);
  const without = judged.filter((day) => day.installs === 0).length;
  console.log(
    `\nclick flooding: of ${days.length} days of channels, ${judged.length} have ${FLOODING.minClicks} clicks or more; median conversion ` +
      `${medianConversion === null ? 'unknown' : `${(100 * medianConversion).toFixed(3)} %`}; ${without} without an install; ` +
      `${flooded.length} flooded, with ${installs} installs`,
  );
}

await runCommand(
  { usage: 'Usage: npm run verify:clicks -- path/to/train_sample.csv', options: {}, positionals: ['file'] },
  async ({ positionals: [file] }) => {
    if (!file) throw new UsageError('Name the file: npm run verify:clicks -- train_sample.csv');
    const clicks = await readClicks(file);
    printRules(clicks);
    printFlooding(clicks);
  },
);
