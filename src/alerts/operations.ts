import { EXAMPLE, inPath, missing, type Operation, withExamples } from '#http/operations';
import { Alert, AlertPreview, AlertsListed } from './answers.ts';
import { AlertBody, AlertPatch, AlertsQuery, PreviewBody } from './requests.ts';

const shared = { credential: 'teamToken', tag: 'Alerts' } as const;
const notFound = missing('Alert');

const roas = {
  application_id: EXAMPLE.application,
  kind: 'metric',
  ...{ metric: 'roas', condition: 'below', threshold: 50, days: 7 },
  ...{ group_by: 'campaign', filters: { country: ['de', 'at'] }, min_spend: 100 },
};

const RULE =
  'An alert of the kind `metric` watches a metric of the performance report over the last `days` full days (1 to 30), with the filters of reports in `filters`. With `group_by`, each of the 100 largest groups is judged apart. Groups with less than `min_spend` or `min_installs` are not judged. `threshold` is in percent for ratios, otherwise in the unit of the metric. With the condition `falls`, `rises` or `changes`, it is a change in percent from the mean of the same weekdays of the four weeks before (`compared_with` is `weekdays`, the default) or from as many days just before (`previous`); the minimums then apply to these earlier days, and what was not above 0 in them is not judged. A field that is not documented is refused.';

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/alerts',
    summary: 'List alerts',
    description: 'The alerts of an application with their state, the oldest first.',
    parameters: {
      query: withExamples(AlertsQuery, { application_id: EXAMPLE.application, limit: 50, cursor: '' }),
    },
    answer: { status: 200, description: 'A page of alerts.', schema: AlertsListed },
    errors: missing('Application'),
  },
  {
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
  },
  {
    ...shared,
    method: 'post',
    path: '/v1/alerts/preview',
    summary: 'Preview an alert on a metric',
    description:
      'Takes the body that creates an alert of the kind `metric`, and answers what it would have said on each of the last `preview_days` full days (1 to 90), the latest first; of fewer days if an application is so large that these take more than some seconds. Nothing that devices earned later counts. Creates nothing.',
    body: { schema: PreviewBody, examples: { week: { ...roas, preview_days: 7 } } },
    answer: { status: 200, description: 'An evaluation per day.', schema: AlertPreview },
    errors: missing('Application'),
  },
  {
    ...shared,
    method: 'get',
    path: '/v1/alerts/{alert_id}',
    summary: 'Retrieve an alert',
    parameters: inPath('alert_id', EXAMPLE.alert),
    answer: { status: 200, description: 'The alert.', schema: Alert },
    errors: notFound,
  },
  {
    ...shared,
    method: 'patch',
    path: '/v1/alerts/{alert_id}',
    summary: 'Update an alert',
    description:
      'Fields that you leave out keep their values; `null` removes a grouping or a minimum. An alert that watches something else, or is turned on, starts anew: it is checked at once. `enabled: false` turns it off: it is not checked and does not fire.',
    parameters: inPath('alert_id', EXAMPLE.alert),
    body: { schema: AlertPatch, examples: { off: { enabled: false }, threshold: { threshold: 40 } } },
    answer: { status: 200, description: 'The updated alert.', schema: Alert },
    errors: notFound,
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/alerts/{alert_id}',
    summary: 'Delete an alert',
    parameters: inPath('alert_id', EXAMPLE.alert),
    answer: { status: 200, description: 'The deleted alert.', schema: Alert },
    errors: notFound,
  },
];
