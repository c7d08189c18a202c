import { apiCaller, type Caller } from '#audit';
import { database } from '#db';
import { type Endpoint, EXAMPLE, endpoint, idOf, missing, pageOf, requireLongReportSlot } from '#http';
import { list } from '#http/answers';
import { type ApplicationRow, ownApplication } from '#teams';
import {
  type AlertRow,
  changeAlert,
  createAlert,
  getAlert,
  listAlerts,
  removeAlert,
  withScope,
} from './alerts.ts';
import { Alert, AlertPreview } from './answers.ts';
import { previewRule } from './evaluate.ts';
import { findLastFired } from './history.ts';
import { AlertBody, AlertPatch, AlertsQuery, PreviewBody, watchesAfter } from './requests.ts';
import { MetricRule } from './rule.ts';
import { showAlert, showPreview } from './show.ts';

const shared = { credential: 'teamToken', tag: 'Alerts' } as const;
const one = {
  path: '/v1/alerts/{alert_id}',
  params: { alert_id: EXAMPLE.alert },
  errors: missing('Alert'),
} as const;

const roas = {
  application_id: EXAMPLE.application,
  kind: 'metric',
  ...{ metric: 'roas', condition: 'below', threshold: 50, days: 7 },
  ...{ group_by: 'campaign', filters: { country: ['de', 'at'] }, min_spend: 100 },
};

const RULE =
  'An alert of the kind `metric` watches a metric of the performance report over the last `days` full days (1 to 30), with the filters of reports in `filters`. With `group_by`, each of the 100 largest groups is judged apart. Groups with less than `min_spend` or `min_installs` are not judged. `threshold` is in percent for ratios, otherwise in the unit of the metric. With the condition `falls`, `rises` or `changes`, it is a change in percent from the mean of the same weekdays of the four weeks before (`compared_with` is `weekdays`, the default) or from as many days just before (`previous`); the minimums then apply to these earlier days, and what was not above 0 in them is not judged. A field that is not documented is refused.';

const showStored = async ({ db }: Caller, alert: AlertRow, application: ApplicationRow): Promise<Alert> =>
  showAlert(alert, application, (await findLastFired(db, [alert.id])).get(alert.id));

export const alertEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/alerts',
    summary: 'List alerts',
    description: 'The alerts of an application with their state, the oldest first.',
    query: {
      schema: AlertsQuery,
      example: { application_id: EXAMPLE.application, limit: 50, cursor: '' },
    },
    answer: { description: 'A page of alerts.', schema: list(Alert) },
    errors: missing('Application'),
    async handle(c, { query: { application_id, limit, cursor } }) {
      const db = database(c.env.DB);
      const application = await ownApplication(c, application_id);
      const read = (rows: number) => listAlerts(db, application.id, { limit: rows, after: cursor });
      const page = await pageOf(limit, read, idOf);
      const lastFired = await findLastFired(db, page.data.map(idOf));
      return { ...page, data: page.data.map((row) => showAlert(row, application, lastFired.get(row.id))) };
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/alerts',
    summary: 'Create an alert',
    description: `${RULE} Messages go to the channels of the application, which the Alerts page of the dashboard adds. The first check is due at once.`,
    body: {
      schema: AlertBody,
      examples: {
        metric: roas,
        silence: { application_id: EXAMPLE.application, kind: 'no_events', threshold: 1 },
      },
    },
    answer: { status: 201, description: 'The alert.', schema: Alert },
    errors: { ...missing('Application'), 409: 'The application has 50 alerts already.' },
    async handle(c, { body }) {
      const application = await ownApplication(c, body.application_id);
      const watches = body.kind === 'metric' ? { kind: body.kind, rule: MetricRule.parse(body) } : body;
      return showAlert(await createAlert(apiCaller(c), application, watches), application, undefined);
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/v1/alerts/preview',
    summary: 'Preview an alert on a metric',
    description:
      'Takes the body that creates an alert of the kind `metric`, and answers what it would have said on each of the last `preview_days` full days (1 to 90), the latest first; of fewer days if an application is so large that these take more than some seconds. Nothing that devices earned later counts. Creates nothing.',
    body: { schema: PreviewBody, examples: { week: { ...roas, preview_days: 7 } } },
    answer: { description: 'An evaluation per day.', schema: AlertPreview },
    errors: missing('Application'),
    checks: [requireLongReportSlot],
    async handle(c, { body: { application_id, preview_days, ...asked } }) {
      const application = await ownApplication(c, application_id);
      const rule = await withScope(database(c.env.DB), application, MetricRule.parse(asked));
      const evaluated = await previewRule(c.env, application, rule, preview_days, Date.now());
      return showPreview(evaluated, application);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'get',
    summary: 'Retrieve an alert',
    answer: { description: 'The alert.', schema: Alert },
    async handle(c, { params }) {
      const caller = apiCaller(c);
      const { alert, application } = await getAlert(caller, params.alert_id);
      return showStored(caller, alert, application);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'patch',
    summary: 'Update an alert',
    description:
      'Fields that you leave out keep their values; `null` removes a grouping or a minimum. An alert that watches something else, or is turned on, starts anew: it is checked at once. `enabled: false` turns it off: it is not checked and does not fire.',
    body: { schema: AlertPatch, examples: { off: { enabled: false }, threshold: { threshold: 40 } } },
    answer: { description: 'The updated alert.', schema: Alert },
    async handle(c, { params, body: { enabled, ...rest } }) {
      const caller = apiCaller(c);
      const { alert, application } = await getAlert(caller, params.alert_id);
      const changes = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(Object.keys(rest).length > 0 ? { watches: watchesAfter(alert, rest) } : {}),
      };
      const changed = await changeAlert(caller, application, alert.id, changes);
      return showStored(caller, changed, application);
    },
  }),
  endpoint({
    ...{ ...shared, ...one },
    method: 'delete',
    summary: 'Delete an alert',
    answer: { description: 'The deleted alert.', schema: Alert },
    async handle(c, { params }) {
      const caller = apiCaller(c);
      const { alert, application } = await getAlert(caller, params.alert_id);
      const shown = await showStored(caller, alert, application);
      await removeAlert(caller, application, alert.id);
      return shown;
    },
  }),
];
