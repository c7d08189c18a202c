import { COST_REPORTS } from '#networks/costs';
import { runReport } from '../../src/connectors/fetch-answers.ts';
import { pull } from '../../src/connectors/pull.ts';
import { ReportBudget } from '../../src/connectors/report-budget.ts';
import { QUESTIONS } from '../networks/report-answers.ts';

// One run of a connector in a V8 whose heap is limited from outside, with an answer that arrives in chunks. Prints one line of JSON: the rows,
// or why it was refused, and how many bytes were read.

const BYTES = 20 * 1024 * 1024;
const DAY = '2026-03-02';
const HEAD = 'date,campaign,amount,currency\n';
const json = (index: number, padding: number) =>
  `{"date":"${DAY}","campaign":"${String(index).padStart(padding, 'x')}","amount":1.5,"currency":"usd"}`;
const csv = (index: number, padding: number) => `${DAY},${String(index).padStart(padding, 'x')},1.5,usd\n`;

/** Answers that are as large as they may be, or larger; the first of `parts` once, then the second again and again with a number, then the third. */
type Answers = {
  parts: [string, (index: number) => string, string];
  repeats?: number;
  /** Without one, the team's own address. */
  network?: keyof typeof QUESTIONS;
};
const NAMES = 'x'.repeat(20);
const applovin = (index: number) =>
  `${index ? ',' : ''}{"day":"${DAY}","campaign":"${NAMES}${index}","campaign_id_external":"${index}","creative_set":"${NAMES}","creative_set_id":"2","ad":"${NAMES}","ad_id":"${index}","country":"de","platform":"ios","cost":"1.5","impressions":"100","clicks":"3"}`;
const google = (index: number) =>
  `${index ? ',' : ''}{"campaign":{"resourceName":"customers/1/campaigns/${index}","id":"${index}","name":"${NAMES}"},"adGroup":{"id":"2","name":"${NAMES}"},"segments":{"date":"${DAY}"},"metrics":{"costMicros":"1500000","impressions":"5","clicks":"1"}}`;
const GOOGLE_END = '],"fieldMask":"","requestId":"r"}]';

/** What Google answers before its rows, and between the two reports. */
const GOOGLE_FIRST = [
  { access_token: 'token' },
  [{ results: [{ customer: { currencyCode: 'EUR', timeZone: 'UTC' } }] }],
];

const ANSWERS: Record<string, Answers> = {
  'AppLovin’s 50,000 rows': {
    ...{ network: 'applovin', repeats: 50_000 },
    parts: ['{"code":200,"results":[', applovin, '],"count":1}'],
  },
  'AppLovin’s rows without end': { network: 'applovin', parts: ['{"results":[', applovin, ']}'] },
  'Google’s 50,000 rows': {
    ...{ network: 'google', repeats: 50_000 },
    parts: ['[{"results":[', google, GOOGLE_END],
  },
  'Google’s rows without end': { network: 'google', parts: ['[{"results":[', google, GOOGLE_END] },
  'a page of Meta’s without end': {
    network: 'meta',
    parts: ['{"data":[', (index) => `${index ? ',' : ''}{"campaign_name":"${NAMES}"}`, ']}'],
  },
  'a page of TikTok’s without end': {
    network: 'tiktok',
    parts: ['{"code":0,"data":{"list":[', (index) => `${index ? ',' : ''}{"a":"${NAMES}"}`, ']}}'],
  },
  'json of 50,000 rows': {
    parts: ['[', (index) => `${index ? ',' : ''}${json(index, 250)}`, ']'],
    repeats: 50_000,
  },
  'json of small rows': { parts: ['{"rows":[', (index) => `${index ? ',' : ''}${json(index, 6)}`, ']}'] },
  'json beside the rows': { parts: ['{"a":[', (index) => `${index ? ',' : ''}[[],[],{}]`, '],"rows":[]}'] },
  'one row': { parts: ['[{"campaign":"', () => 'x'.repeat(100), '"}]'] },
  'nested lists': { parts: ['', () => '['.repeat(100), ''] },
  'csv of 50,000 rows': { parts: [HEAD, (index) => csv(index, 120), ''], repeats: 49_999 },
  'csv of small rows': { parts: [HEAD, (index) => csv(index, 6), ''] },
  'csv of wide rows': {
    parts: [HEAD, (index) => `${DAY},${index},1.5,usd${','.repeat(95)}1\n`, ''],
    repeats: 9_900,
  },
  'csv of many cells': { parts: [HEAD, () => `${','.repeat(99)}\n`, ''] },
  'csv of empty lines': { parts: [HEAD, () => '\n', ''] },
  'csv of one line': { parts: ['', () => 'x'.repeat(100), ''] },
};

const [name = ''] = process.argv.slice(2);
const answer = ANSWERS[name];
if (!answer) throw new Error(`no answer ${name}`);
const { parts, repeats = Number.POSITIVE_INFINITY, network } = answer;

let sent = 0;
const encoder = new TextEncoder();
function* chunks() {
  let text = parts[0];
  for (let index = 0; index < repeats && sent + text.length < BYTES - 65_536; index++) {
    text += parts[1](index);
    if (text.length < 65_536) continue;
    sent += text.length;
    yield encoder.encode(text);
    text = '';
  }
  sent += text.length;
  yield encoder.encode(text + parts[2]);
}
const body = () => {
  const each = chunks();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = each.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
};

const days = { from: '2026-03-01', to: '2026-03-03', state: null };
const run =
  network === undefined
    ? pull.read({
        settings: { url: 'https://costs.example.com/', currency: 'usd' },
        ...{ credentials: {}, ...days },
      })
    : COST_REPORTS[network].read({ ...QUESTIONS[network], ...days });
const first = network === 'google' ? [...GOOGLE_FIRST] : [];
let large = 0;
const outcome = await runReport(run, {
  fetcher: async () => {
    const small = first.shift();
    if (small !== undefined) return Response.json(small);
    // Google's second report has nothing.
    return ++large > 1 ? Response.json([]) : new Response(body());
  },
  ...{ sleep: async () => undefined, now: Date.now(), budget: new ReportBudget() },
}).then(
  (done) => ({ rows: 'rows' in done ? done.rows.length : null }),
  (error: unknown) => ({ fault: String(error) }),
);
console.log(JSON.stringify({ ...outcome, megabytes: Math.round(sent / 1024 / 1024) }));
