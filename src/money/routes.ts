import { Hono } from 'hono';
import { database } from '#db';
import { type AppEnv, jsonBody, limitBody, requireTeamToken } from '#http';
import { getApplication } from '#teams';
import { Costs, saveCosts } from './costs.ts';
import { ExchangeRates, saveRates, uploadedRates } from './exchange-rates.ts';

const UPLOAD_BYTES = 1024 * 1024;
const SMALL_BODY = 64 * 1024;

export const moneyRoutes = new Hono<AppEnv>()
  .put('/v1/costs', limitBody(UPLOAD_BYTES), requireTeamToken, ...jsonBody(Costs), async (c) => {
    const upload = c.req.valid('json');
    await getApplication(database(c.env.DB), c.get('team').id, upload.application_id);
    return c.json(await saveCosts(c.env.DB, upload, Date.now()));
  })
  .put(
    '/v1/exchange-rates',
    limitBody(SMALL_BODY),
    requireTeamToken,
    ...jsonBody(ExchangeRates),
    async (c) => {
      const upload = c.req.valid('json');
      const rates = uploadedRates(upload);
      await saveRates(c.env.DB, c.get('team').id, rates, Date.now());
      return c.json({ date: upload.date, base: upload.base, rates: rates.length });
    },
  );
