import { runReport } from '../../src/connectors/fetch-answers.ts';
import { pull } from '../../src/connectors/pull.ts';
import { ReportBudget } from '../../src/connectors/report-budget.ts';

// One run of a pull connector in a V8 whose heap is limited from outside, with an answer that arrives in chunks. Prints one line of JSON: the rows,
// or why it was refused, and how many bytes were read.

const BYTES = 20 * 1024 * 1024;
const DAY = '2026-03-02';
const HEAD = 'date,campaign,amount,currency\n';
const json = (index: number, padding: number) =>
  `{"date":"${DAY}","campaign":"${String(index).padStart(padding, 'x')}","amount":1.5,"currency":"usd"}`;
const csv = (index: number, padding: number) => `${DAY},${String(index).padStart(padding, 'x')},1.5,usd\n`;

/** Answers that are as large as they may be, or larger; the first of `parts` once, then the second again and again with a number, then the third. */
const ANSWERS: Record<string, { parts: [string, (index: number) => string, string]; repeats?: number }> = {
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
const { parts, repeats = Number.POSITIVE_INFINITY } = answer;

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

const run = pull.read({
  settings: { url: 'https://costs.example.com/', currency: 'usd' },
  ...{ credentials: {}, from: '2026-03-01', to: '2026-03-03', state: null },
});
const outcome = await runReport(run, {
  fetcher: async () => new Response(body()),
  ...{ sleep: async () => undefined, now: Date.now(), budget: new ReportBudget() },
}).then(
  (done) => ({ rows: 'rows' in done ? done.rows.length : null }),
  (error: unknown) => ({ fault: String(error) }),
);
console.log(JSON.stringify({ ...outcome, megabytes: Math.round(sent / 1024 / 1024) }));
