import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { database } from '#db';
import {
  type AppEnv,
  invalidRequest,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  queryString,
  requireTeamToken,
} from '#http';
import { getApplication } from '#teams';
import type { CostsDeleted, CostsListed, CostsSaved, RatesListed, RatesSaved } from './answers.ts';
import { CostFileQuery } from './cost-file.ts';
import { Costs, saveCosts } from './costs.ts';
import { CostsToDelete, deleteCosts } from './delete-costs.ts';
import { ExchangeRates, saveRates } from './exchange-rates.ts';
import { CostsQuery, listCosts } from './list-costs.ts';
import { listRates, RatesQuery } from './list-rates.ts';
import { saveCostFile } from './save-cost-file.ts';

const UPLOAD_BYTES = 1024 * 1024;

export const moneyRoutes = new Hono<AppEnv>()
  .get('/v1/costs', requireTeamToken, queryString(CostsQuery), async (c) => {
    const query = c.req.valid('query');
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, query.application_id);
    return c.json<CostsListed>(await listCosts(db, application, query));
  })
  .put('/v1/costs', limitBody(UPLOAD_BYTES), requireTeamToken, ...jsonBody(Costs), async (c) => {
    const caller = apiCaller(c);
    const { application_id, rows } = c.req.valid('json');
    const application = await getApplication(caller.db, caller.team.id, application_id);
    return c.json<CostsSaved>(await saveCosts(caller, application, rows));
  })
  .put('/v1/costs/file', limitBody(UPLOAD_BYTES), requireTeamToken, queryString(CostFileQuery), async (c) => {
    const caller = apiCaller(c);
    const { application_id, currency, spread } = c.req.valid('query');
    const application = await getApplication(caller.db, caller.team.id, application_id);
    const file = new Uint8Array(await c.req.arrayBuffer());
    const options = { currency: currency ?? application.currency, spread: spread === 'true' };
    const { saved, faults } = await saveCostFile(caller, application, file, options);
    if (faults) throw invalidRequest(faults);
    return c.json<CostsSaved>(saved);
  })
  .delete('/v1/costs', limitBody(UPLOAD_BYTES), requireTeamToken, ...jsonBody(CostsToDelete), async (c) => {
    const caller = apiCaller(c);
    const body = c.req.valid('json');
    const application = await getApplication(caller.db, caller.team.id, body.application_id);
    return c.json<CostsDeleted>(await deleteCosts(caller, application, body));
  })
  .get('/v1/exchange-rates', requireTeamToken, queryString(RatesQuery), async (c) =>
    c.json<RatesListed>(await listRates(database(c.env.DB), c.get('team').id, c.req.valid('query'))),
  )
  .put(
    '/v1/exchange-rates',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(ExchangeRates),
    async (c) => {
      const upload = c.req.valid('json');
      const rates = await saveRates(apiCaller(c), upload);
      return c.json<RatesSaved>({ date: upload.date, base: upload.base, rates });
    },
  );
