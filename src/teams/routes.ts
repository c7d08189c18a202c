import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { database } from '#db';
import { settingsOf } from '#env';
import {
  type AppEnv,
  idOf,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  pageOf,
  queryString,
  requireTeamToken,
} from '#http';
import type { ApiKey, Application, Applications, CreatedApplication, IntakeSecret } from './answers.ts';
import { replaceApiKey } from './api-keys.ts';
import {
  ApplicationChanges,
  ApplicationsQuery,
  changeApplication,
  createApplication,
  NewApplication,
  Replacement,
  showApplication,
} from './applications.ts';
import { replaceIntakeSecret } from './intake-secrets.ts';
import { getApplication, listApplications } from './own-application.ts';

export const teamRoutes = new Hono<AppEnv>()
  .get('/v1/applications', requireTeamToken, queryString(ApplicationsQuery), async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const db = database(c.env.DB);
    const read = (rows: number) => listApplications(db, c.get('team').id, { limit: rows, cursor });
    const page = await pageOf(limit, read, idOf);
    return c.json<Applications>({ ...page, data: page.data.map(showApplication) });
  })
  .post(
    '/v1/applications',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(NewApplication),
    async (c) => {
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      const { application, apiKey } = await createApplication(apiCaller(c), c.req.valid('json'), secret);
      return c.json<CreatedApplication>({ ...showApplication(application), api_key: apiKey }, 201);
    },
  )
  .get('/v1/applications/:id', requireTeamToken, noQuery, async (c) => {
    const row = await getApplication(database(c.env.DB), c.get('team').id, c.req.param('id'));
    return c.json<Application>(showApplication(row));
  })
  .patch(
    '/v1/applications/:id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(ApplicationChanges),
    async (c) => {
      const caller = apiCaller(c);
      const application = await getApplication(caller.db, caller.team.id, c.req.param('id'));
      const changed = await changeApplication(
        caller,
        application,
        c.req.valid('json'),
        settingsOf(c.env).KEY_ENCRYPTION_SECRET,
      );
      return c.json<Application>(showApplication(changed));
    },
  )
  .post(
    '/v1/applications/:id/api-key',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(Replacement),
    async (c) => {
      const caller = apiCaller(c);
      const application = await getApplication(caller.db, caller.team.id, c.req.param('id'));
      const { grace_hours } = c.req.valid('json');
      const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
      return c.json<ApiKey>({ api_key: await replaceApiKey(caller, application, grace_hours, secret) }, 201);
    },
  )
  .post(
    '/v1/applications/:id/intake-secret',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    ...jsonBody(Replacement),
    async (c) => {
      const caller = apiCaller(c);
      const application = await getApplication(caller.db, caller.team.id, c.req.param('id'));
      const { grace_hours } = c.req.valid('json');
      const intake_secret = await replaceIntakeSecret(caller, application, grace_hours);
      return c.json<IntakeSecret>({ intake_secret }, 201);
    },
  );
