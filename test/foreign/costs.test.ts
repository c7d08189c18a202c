import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, it } from 'vitest';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import sums from './costs/sums.json';

// Files of costs as networks write them, and files of every style at random: what is stored is what their rows add up to.

const worker = startWorker();

const files = import.meta.glob<string>('./costs/*.{csv,base64}', {
  ...{ query: '?raw', import: 'default', eager: true },
});

type Sums = {
  network: string;
  read: number;
  stored: number;
  amounts: Record<string, number>;
  differs?: number;
};
type Saved = {
  read: number;
  stored: number;
  network: string | null;
  skipped: { line: number; reason: string }[];
  amounts: { currency: string; amount: number }[];
  message?: string;
};

async function upload(tenant: Tenant, body: BodyInit, query = '') {
  const path = `/v1/costs/file?application_id=${tenant.application.id}${query}`;
  const headers = { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' };
  const answer = await worker.request(path, { method: 'PUT', headers, body });
  return { status: answer.status, body: await answer.json<Saved>() };
}

type Stored = { currency: string; amount: number; network: string | null };

async function storedIn(tenant: Tenant, campaign = ''): Promise<Stored[]> {
  const more = campaign === '' ? '' : `&campaign=${campaign}`;
  const path = `/v1/costs?application_id=${tenant.application.id}&limit=200${more}`;
  const answer = await worker.team(tenant, path);
  return (await answer.json<{ data: Stored[] }>()).data;
}

const bytesOf = (name: string, text: string): BodyInit =>
  name.endsWith('.base64')
    ? Uint8Array.from(atob(text.replaceAll('\n', '')), (one) => one.charCodeAt(0))
    : text;

it('has sums for every file', () => {
  expect(
    Object.keys(files)
      .map((path) => path.replace('./costs/', ''))
      .sort(),
  ).toEqual(Object.keys(sums).sort());
});

it.each(Object.entries<Sums>(sums))('stores what the rows of %s add up to, twice', async (name, expected) => {
  const tenant = await createTenant();
  const body = bytesOf(name, files[`./costs/${name}`] ?? '');
  for (const _ of [1, 2]) {
    const { status, body: saved } = await upload(tenant, body);
    expect([status, saved.message]).toEqual([200, undefined]);
    expect(Object.fromEntries(saved.amounts.map(({ currency, amount }) => [currency, amount]))).toEqual(
      expected.amounts,
    );
    expect(saved).toMatchObject({
      ...{ network: expected.network, read: expected.read, stored: expected.stored },
    });
    const said = saved.skipped.map(({ reason }) => reason).join();
    expect(said.includes('but its rows add up to')).toBe(expected.differs !== undefined);
    if (expected.differs) expect(said).toContain(`a total of ${expected.differs},`);
  }
  const stored = await storedIn(tenant);
  const cents = stored.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);
  expect(cents).toBe(
    Math.round(Object.values(expected.amounts).reduce((sum, amount) => sum + amount, 0) * 100),
  );
  expect(new Set(stored.map(({ network }) => network))).toEqual(new Set([expected.network]));
});

/** Day, campaign, amount, impressions, what the rows are broken down by, the word for a total, and currency. */
const HEADINGS = [
  ['Day', 'Campaign name', 'Amount spent', 'Impressions', 'Age', 'Total', 'Currency'],
  ['Tag', 'Kampagnenname', 'Ausgegebener Betrag', 'Impressionen', 'Alter', 'Gesamt', 'Währung'],
  ['Jour', 'Campagne', 'Coût', 'Impr.', 'Appareil', 'Total', 'Devise'],
  ['日', 'キャンペーン', '費用', '表示回数', '年齢', '合計', '通貨'],
  ['일', '캠페인 이름', '지출 금액', '노출', '연령', '합계', '통화'],
  ['Dzień', 'Nazwa kampanii', 'Wydana kwota', 'Wyświetlenia', 'Wiek', 'Razem', 'Waluta'],
  ['Dag', 'Campagnenaam', 'Besteed bedrag', 'Weergaven', 'Plaatsing', 'Totaal', 'Valuta'],
  ['اليوم', 'اسم الحملة', 'المبلغ المنفق', 'مرات الظهور', 'العمر', 'الإجمالي', 'العملة'],
] as const;

const STYLES = [
  { point: '.', group: ',' },
  { point: '.', group: "'" },
  { point: ',', group: '.' },
  { point: ',', group: '\u202f' },
  { point: '.', group: '' },
  { point: '.', group: ',', groups: /\B(?=(?:\d{2})*\d{3}$)/g },
] as const satisfies readonly { point: string; group: string; groups?: RegExp }[];

/** An amount in thousandths as text, with up to three decimals. */
function written(thousandths: number, style: (typeof STYLES)[number], isShort: boolean): string {
  const { point, group } = style;
  const groups = 'groups' in style ? style.groups : /\B(?=(?:\d{3})+$)/g;
  const whole = String(Math.floor(thousandths / 1000)).replace(groups, group);
  const part = String(thousandths % 1000)
    .padStart(3, '0')
    .replace(isShort ? /0+$/ : /$^/, '');
  return part === '' ? whole : `${whole}${point}${part}`;
}

it('stores exactly the sum of any file, or refuses it and stores nothing', async () => {
  const tenant = await createTenant();
  let [run, kept] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        headings: fc.constantFrom(...HEADINGS),
        style: fc.constantFrom(...STYLES),
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        isShort: fc.boolean(),
        title: fc.boolean(),
        // In the heading of the amount, or in a column of its own, where one day has another currency.
        inHeading: fc.boolean(),
        total: fc.constantFrom('none', 'first', 'last'),
        rows: fc.array(
          fc.record({
            day: fc.integer({ min: 1, max: 3 }),
            part: fc.constantFrom('18-24', '25-34', 'mobile', '--'),
            amount: fc.oneof(
              fc.integer({ min: 0, max: 9_999_999 }),
              fc.integer({ min: 0, max: 999_999 }).map((cents) => cents * 10),
            ),
            impressions: fc.option(fc.integer({ min: 0, max: 9_999 })),
          }),
          { minLength: 1, maxLength: 8 },
        ),
      }),
      async ({ headings, style, delimiter, isShort, title, inHeading, total, rows }) => {
        const campaign = `Run ${++run} | x, y; z`;
        const [day, name, amount, impressions, part, word, currency] = headings;
        const currencyOf = (row: { day: number }) => (inHeading || row.day < 3 ? 'EUR' : 'USD');
        const amounts = new Map<string, number>();
        for (const row of rows) {
          amounts.set(currencyOf(row), (amounts.get(currencyOf(row)) ?? 0) + row.amount);
        }
        const sum = rows.reduce((all, row) => all + row.amount, 0);
        const lines = rows.map((row) => [
          ...[`2026-03-0${row.day}`, campaign, row.part, written(row.amount, style, isShort)],
          row.impressions === null ? '--' : String(row.impressions),
          ...(inHeading ? [] : [currencyOf(row)]),
        ]);
        const hasTotal = total !== 'none' && amounts.size === 1;
        const totals = hasTotal ? [[word, '', '', written(sum, style, isShort), '']] : [];
        const body = Papa.unparse(
          [
            ...(title ? [['Report']] : []),
            [
              day,
              name,
              part,
              inHeading ? `${amount} (EUR)` : amount,
              impressions,
              ...(inHeading ? [] : [currency]),
            ],
            ...(total === 'first' ? totals : []),
            ...lines,
            ...(total === 'last' ? totals : []),
          ],
          { delimiter },
        );
        const { status, body: saved } = await upload(tenant, body);
        const stored = await storedIn(tenant, encodeURIComponent(campaign));
        const thousandths = stored.reduce((all, row) => all + Math.round(row.amount * 1000), 0);
        if (status === 200) {
          kept++;
          const said = saved.amounts.map((one) => [one.currency.toUpperCase(), one.amount * 1000] as const);
          expect(new Map(said.map(([code, thousandth]) => [code, Math.round(thousandth)]))).toEqual(amounts);
          expect(thousandths).toBe(sum);
          const isSaid = saved.skipped.some(({ reason }) => reason.includes('add up to'));
          expect(isSaid).toBe(hasTotal);
          expect(saved.skipped.some(({ reason }) => reason.includes(', but'))).toBe(false);
        } else {
          expect([status, stored]).toEqual([400, []]);
          // Only three digits after a single separator may be either.
          expect(saved.message).toMatch(/amount must be a number/);
        }
      },
    ),
    { numRuns: 200 },
  );
  expect(kept).toBeGreaterThan(0.75 * run);
});

it('reads a file of unknown headings once it is said which column is which', async () => {
  const tenant = await createTenant();
  const file = 'Päivä;Kampanja;Summa\n2026-03-01;Kevät;12,50\n2026-03-01;Kevät;7,50\n';
  const refused = await upload(tenant, file);
  expect(refused.status).toBe(400);
  expect(refused.body.message).toContain('“Päivä”, “Kampanja”, “Summa”');
  const map = ['day=Päivä', 'campaign=kampanja', 'amount=Summa'].map(
    (one) => `&map=${encodeURIComponent(one)}`,
  );
  const taken = await upload(tenant, file, map.join(''));
  expect([taken.status, taken.body.amounts]).toEqual([200, [{ currency: 'usd', amount: 20 }]]);
  const wrong = await upload(tenant, file, `&map=${encodeURIComponent('amount=Hinta')}`);
  expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('has no column “Hinta”')]);
});

it('takes 200 ads of 30 days at once', async () => {
  const tenant = await createTenant();
  const lines = Array.from({ length: 6_000 }, (_, index) => {
    const day = String((index % 30) + 1).padStart(2, '0');
    return `2026-06-${day},Campaign,Ad set ${index % 7},Ad ${Math.floor(index / 30)},1.25,"1,000"`;
  });
  const heading = 'Day,Campaign name,Ad set name,Ad name,Amount spent (USD),Impressions';
  const { status, body } = await upload(tenant, [heading, ...lines].join('\n'));
  expect([status, body.stored, body.amounts]).toEqual([200, 6_000, [{ currency: 'usd', amount: 7_500 }]]);
});
