import { describe, expect, it } from 'vitest';
import { putCosts } from '../helpers/money.ts';
import { pageOf, queryOf, textOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

async function withPages(role: 'viewer' | 'admin' = 'viewer') {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, role);
  const app = tenant.application.id;
  const open = async (path: string) =>
    pageOf(await browser.get(`${path}${path.includes('?') ? '&' : '?'}app=${app}`));
  /** What the page says instead of a report, and where its link leads. */
  const sentenceOf = async (path: string): Promise<[text: string, link: string]> => {
    const empty = (await open(path)).one('main .card .empty');
    return [textOf(empty), empty.querySelector('a')?.getAttribute('href') ?? ''];
  };
  return { tenant, app, open, sentenceOf };
}

describe('an empty report says what fills it', () => {
  it.each([
    ['/ltv', 'LTV and ROAS appear once your app’s first device arrives.'],
    ['/retention', 'Retention appears once your app’s first device arrives.'],
    ['/breakdown?by=country', 'Figures appear once your app’s first device arrives.'],
    ['/funnels', 'Funnels appear once your app’s first device arrives.'],
    ['/funnels?step=purchase&step=ad', 'The funnel appears once a device reaches “Purchase”.'],
    ['/ads', 'Ad revenue appears once your backend sends custom.ad events.'],
  ])('%s', async (path, text) => {
    const { app, sentenceOf } = await withPages();
    expect(await sentenceOf(path)).toEqual([`${text} Send the first event`, `/get-started?app=${app}`]);
  });

  it('and whom to ask', async () => {
    const [admin, viewer] = [await withPages('admin'), await withPages('viewer')];
    expect(await admin.sentenceOf('/costs')).toEqual([
      'Spend, CPI and ROAS appear once you upload costs or your backend sends them with PUT /v1/costs. Upload costs',
      '#upload',
    ]);
    expect((await admin.open('/costs')).all('#upload')).toHaveLength(1);
    expect(await viewer.sentenceOf('/costs')).toEqual([
      'Spend, CPI and ROAS appear once an admin uploads costs or your backend sends them with PUT /v1/costs.',
      '',
    ]);
  });
});

describe('a period without data leads to one with data', () => {
  it.each([
    ['/ltv?show=roas', 'No devices acquired in this period.', { show: 'roas', cohort: 'all' }],
    ['/retention', 'No devices acquired in this period.', { kind: 'classic', cohort: 'week' }],
    ['/breakdown?by=country&and=os', 'No figures in this period.', { by: 'country', and: 'os' }],
    ['/funnels', 'No devices acquired in this period.', { steps: 'install,ad,purchase' }],
    [
      '/funnels?step=purchase&step=ad',
      'No devices that reached “Purchase” in this period.',
      { steps: 'purchase,ad' },
    ],
    ['/ads?by=source', 'No ads shown in this period.', { by: 'source', metric: 'ad_revenue' }],
    ['/costs', 'No costs in this period.', {}],
  ])('%s', async (path, text, own) => {
    const { tenant, app, sentenceOf } = await withPages();
    await fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00.000Z' });
    await putCosts(worker, tenant, [{ date: '2026-03-02', campaign: 'Summer', currency: 'usd', amount: 5 }]);
    const all = { app, period: 'all', ...own };
    for (const period of ['period=7d', 'from=2026-01-01&to=2026-01-31&compare=year']) {
      const [said, link] = await sentenceOf(`${path}${path.includes('?') ? '&' : '?'}${period}`);
      expect([said, queryOf(link)]).toEqual([`${text} Show all time`, all]);
    }
    const [, link] = await sentenceOf(`${path}${path.includes('?') ? '&' : '?'}period=7d&country=de`);
    const cleared = path === '/costs' ? { ...all, country: 'de' } : { ...all, period: '7d' };
    expect(queryOf(link)).toEqual(cleared);
  });
});

it('says that filters match nothing, whatever the period', async () => {
  const { tenant, sentenceOf } = await withPages();
  await fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00.000Z' });
  expect((await sentenceOf('/retention?period=all&country=de'))[0]).toBe(
    'No devices acquired in this period match the filters. Clear the filters',
  );
});

it('draws no axis where every figure is 0', async () => {
  const { tenant, open } = await withPages();
  await fetchToken(worker, tenant, { created_at: '2026-03-02T10:00:00.000Z' });
  const shown = await open('/breakdown?from=2026-03-01&to=2026-03-07');
  expect(shown.card('Revenue by day').texts('.empty')).toEqual(['Every figure in this period is 0.']);
  expect(shown.all('[data-chart]')).toEqual([]);
});
