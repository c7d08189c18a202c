import { Hono } from 'hono';
import { database } from '#db';
import { settingsOf } from '#env';
import { type AppEnv, jsonBody, limitBody, listQuery, queryString, requireTeamToken } from '#http';
import { auditTeamAction } from '#members';
import {
  ApplicationChanges,
  changeApplication,
  createApplication,
  getApplication,
  listApplications,
  NewApiKey,
  NewApplication,
  replaceApiKey,
  showApplication,
} from './applications.ts';

const SMALL_BODY = 64 * 1024;

export const teamRoutes = new Hono<AppEnv>()
  .get('/v1/applications', requireTeamToken, queryString(listQuery), async (c) => {
    const page = c.req.valid('query');
    const rows = await listApplications(database(c.env.DB), c.get('team').id, page);
    return c.json({
      data: rows.map(showApplication),
      next_cursor: rows.length === page.limit ? (rows.at(-1)?.id ?? null) : null,
    });
  })
  .post(
    '/v1/applications',
    limitBody(SMALL_BODY),
    requireTeamToken,
    ...jsonBody(NewApplication),
    async (c) => {
      const { application, apiKey } = await createApplication(
        database(c.env.DB),
        c.get('team').id,
        c.req.valid('json'),
        settingsOf(c.env).KEY_ENCRYPTION_SECRET,
        Date.now(),
      );
      await auditTeamAction(c, 'application.created', `${application.name} (${application.id})`);
      return c.json({ ...showApplication(application), api_key: apiKey }, 201);
    },
  )
  .get('/v1/applications/:id', requireTeamToken, async (c) => {
    const row = await getApplication(database(c.env.DB), c.get('team').id, c.req.param('id'));
    return c.json(showApplication(row));
  })
  .patch(
    '/v1/applications/:id',
    limitBody(SMALL_BODY),
    requireTeamToken,
    ...jsonBody(ApplicationChanges),
    async (c) => {
      const { id } = c.req.param();
      const row = await changeApplication(database(c.env.DB), c.get('team').id, id, c.req.valid('json'));
      await auditTeamAction(c, 'application.changed', `${row.name} (${row.id})`);
      return c.json(showApplication(row));
    },
  )
  .post(
    '/v1/applications/:id/api-key',
    limitBody(SMALL_BODY),
    requireTeamToken,
    ...jsonBody(NewApiKey),
    async (c) => {
      const { id } = c.req.param();
      const { grace_hours } = c.req.valid('json');
      const apiKey = await replaceApiKey(
        database(c.env.DB),
        c.get('team').id,
        id,
        grace_hours,
        settingsOf(c.env).KEY_ENCRYPTION_SECRET,
        Date.now(),
      );
      await auditTeamAction(c, 'api_key.regenerated', `${id}, grace ${grace_hours} h`);
      return c.json({ api_key: apiKey }, 201);
    },
  );
