import { Hono } from 'hono';
import { apiCaller, type Caller } from '#audit';
import { database } from '#db';
import {
  type AppEnv,
  idOf,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  pageOf,
  queryString,
  requireReportSlot,
  requireTeamToken,
} from '#http';
import { type ApplicationRow, getApplication } from '#teams';
import {
  type Alert as AlertRow,
  changeAlert,
  createAlert,
  getAlert,
  listAlerts,
  removeAlert,
  withScope,
} from './alerts.ts';
import type { Alert, AlertPreview, AlertsListed } from './answers.ts';
import { previewRule } from './evaluate.ts';
import { findLastFired } from './history.ts';
import { AlertBody, AlertPatch, AlertsQuery, PreviewBody, watchesAfter } from './requests.ts';
import { MetricRule } from './rule.ts';
import { showAlert, showPreview } from './show.ts';

const showStored = async ({ db }: Caller, alert: AlertRow, application: ApplicationRow): Promise<Alert> =>
  showAlert(alert, application, (await findLastFired(db, [alert.id])).get(alert.id));

export const alertRoutes = new Hono<AppEnv>()
  .get('/v1/alerts', requireTeamToken, queryString(AlertsQuery), async (c) => {
    const { application_id, limit, cursor } = c.req.valid('query');
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, application_id);
    const read = (rows: number) => listAlerts(db, application.id, { limit: rows, after: cursor });
    const page = await pageOf(limit, read, idOf);
    const lastFired = await findLastFired(db, page.data.map(idOf));
    return c.json<AlertsListed>({
      ...page,
      data: page.data.map((row) => showAlert(row, application, lastFired.get(row.id))),
    });
  })
  .post(
    '/v1/alerts',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(AlertBody),
    async (c) => {
      const caller = apiCaller(c);
      const alert = c.req.valid('json');
      const application = await getApplication(caller.db, caller.team.id, alert.application_id);
      const watches = alert.kind === 'metric' ? { kind: alert.kind, rule: MetricRule.parse(alert) } : alert;
      const row = await createAlert(caller, application, watches);
      return c.json<Alert>(showAlert(row, application, undefined), 201);
    },
  )
  .post(
    '/v1/alerts/preview',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    requireReportSlot,
    noQuery,
    ...jsonBody(PreviewBody),
    async (c) => {
      const { application_id, preview_days, ...asked } = c.req.valid('json');
      const db = database(c.env.DB);
      const application = await getApplication(db, c.get('team').id, application_id);
      const rule = await withScope(db, application, MetricRule.parse(asked));
      const evaluated = await previewRule(c.env, application, rule, preview_days, Date.now());
      return c.json<AlertPreview>(showPreview(evaluated, application));
    },
  )
  .get('/v1/alerts/:alert_id', requireTeamToken, noQuery, async (c) => {
    const caller = apiCaller(c);
    const { alert, application } = await getAlert(caller, c.req.param('alert_id'));
    return c.json<Alert>(await showStored(caller, alert, application));
  })
  .patch(
    '/v1/alerts/:alert_id',
    limitBody(MAX_JSON_BODY_BYTES),
    requireTeamToken,
    noQuery,
    ...jsonBody(AlertPatch),
    async (c) => {
      const caller = apiCaller(c);
      const { enabled, ...rest } = c.req.valid('json');
      const { alert, application } = await getAlert(caller, c.req.param('alert_id'));
      const changes = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(Object.keys(rest).length > 0 ? { watches: watchesAfter(alert, rest) } : {}),
      };
      const changed = await changeAlert(caller, application, alert.id, changes);
      return c.json<Alert>(await showStored(caller, changed, application));
    },
  )
  .delete('/v1/alerts/:alert_id', requireTeamToken, noQuery, async (c) => {
    const caller = apiCaller(c);
    const { alert, application } = await getAlert(caller, c.req.param('alert_id'));
    const shown = await showStored(caller, alert, application);
    await removeAlert(caller, application, alert.id);
    return c.json<Alert>(shown);
  });
