import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { settleCounters } from '#counting';
import { database } from '#db';
import {
  type AppEnv,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  noQuery,
  queryString,
  requireReportSlot,
  requireTeamToken,
} from '#http';
import { getApplication } from '#teams';
import { createAlert, createMetricAlert, getAlert, listAlerts, removeAlert, withScope } from './alerts.ts';
import type { Alert, AlertPreview, AlertsListed } from './answers.ts';
import { previewRule } from './evaluate.ts';
import { AlertBody, AlertsQuery, PreviewBody } from './requests.ts';
import { MetricRule } from './rule.ts';
import { showAlert, showPreview } from './show.ts';

export const alertRoutes = new Hono<AppEnv>()
  .get('/v1/alerts', requireTeamToken, queryString(AlertsQuery), async (c) => {
    const { application_id, limit, cursor } = c.req.valid('query');
    const db = database(c.env.DB);
    const application = await getApplication(db, c.get('team').id, application_id);
    const rows = await listAlerts(db, application.id, { limit: limit + 1, after: cursor });
    const page = rows.slice(0, limit);
    return c.json<AlertsListed>({
      data: page.map((row) => showAlert(row, application)),
      next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
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
      const row =
        alert.kind === 'metric'
          ? await createMetricAlert(caller, application, MetricRule.parse(alert))
          : await createAlert(caller, application, alert);
      return c.json<Alert>(showAlert(row, application), 201);
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
      await settleCounters(c.env, application);
      const evaluated = await previewRule(c.env, application, rule, preview_days, Date.now());
      return c.json<AlertPreview>(showPreview(evaluated, application));
    },
  )
  .get('/v1/alerts/:alert_id', requireTeamToken, noQuery, async (c) => {
    const { alert, application } = await getAlert(apiCaller(c), c.req.param('alert_id'));
    return c.json<Alert>(showAlert(alert, application));
  })
  .delete('/v1/alerts/:alert_id', requireTeamToken, noQuery, async (c) => {
    const caller = apiCaller(c);
    const { alert, application } = await getAlert(caller, c.req.param('alert_id'));
    await removeAlert(caller, application, alert.id);
    return c.json<Alert>(showAlert(alert, application));
  });
