import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { readMarkers } from '../../src/dashboard/charts/markers.ts';
import type { View } from '../../src/dashboard/shell/view.ts';
import { createCreative } from '../helpers/creatives.ts';
import { putCosts } from '../helpers/money.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it('marks the first spend and new creatives of the application, those that the filters select', async () => {
  const [tenant, other] = [await createTenant(), await createTenant()];
  const cat = await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young', creative: 'Cat' });
  await createCreative(worker, tenant, { campaign: 'Autumn', adset: 'Young', creative: 'Dog' });
  await createCreative(worker, other, { campaign: 'Spring', adset: 'Young', creative: 'Cow' });
  const day = new Date().toISOString().slice(0, 10);
  await putCosts(worker, tenant, [{ date: day, campaign: 'Spring', amount: 1 }]);
  const places = [{ key: day, start: day, label: day }];
  const textsOf = async (filters: object) => {
    const view = { application: tenant.application, from: day, to: day, filters } as unknown as View;
    return (await readMarkers(env.DB, view, places as never)).markers.map(({ text }) => text);
  };
  expect(await textsOf({})).toEqual(['first spend', '2 new creatives']);
  expect(await textsOf({ creative_id: [cat.id] })).toEqual(['new creative Cat']);
  // Countries do not divide creatives, but the first spend is of all.
  expect(await textsOf({ country: ['de'] })).toEqual(['2 new creatives']);
});
