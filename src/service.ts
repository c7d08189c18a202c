import { alertEndpoints } from '#alerts/routes';
import { assistantEndpoints } from '#assistants/routes';
import { restoreRoutes } from '#backup/routes';
import { connectorEndpoints } from '#connectors/routes';
import { creativeEndpoints } from '#creatives/routes';
import { answerPage } from '#dashboard';
import { deletionEndpoints } from '#deletion/routes';
import { destinationEndpoints } from '#destinations/routes';
import { deviceEndpoints } from '#devices/routes';
import { docsRoutes } from '#docs/routes';
import { eventEndpoints } from '#events/routes';
import { type Endpoint, mount, teamFailure } from '#http';
import { impressionEndpoints } from '#impressions/routes';
import { ingestionFailure } from '#ingestion';
import { ingestionEndpoints } from '#ingestion/routes';
import { moneyEndpoints } from '#money/routes';
import { noteEndpoints } from '#notes/routes';
import { operationEndpoints } from '#operations/routes';
import { reportEndpoints } from '#reports/routes';
import { skanEndpoints } from '#skan/routes';
import { storeEndpoints } from '#stores/routes';
import { teamEndpoints } from '#teams/routes';
import { appFileEndpoints, linkEndpoints } from '#tracking/routes';
import { createApp } from './app.ts';

/** Answers what the tools of assistants ask. */
const within = (request: Request, env: Env, ctx: ExecutionContext) =>
  (isOfTeamApi(new URL(request.url).pathname) ? teamApi : service).fetch(request, env, ctx);

/** Every documented endpoint, in the order of the documentation page. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...ingestionEndpoints,
  ...teamEndpoints,
  ...deletionEndpoints,
  ...creativeEndpoints,
  ...moneyEndpoints,
  ...noteEndpoints,
  ...eventEndpoints,
  ...deviceEndpoints,
  ...reportEndpoints,
  ...alertEndpoints,
  ...skanEndpoints,
  ...storeEndpoints,
  ...connectorEndpoints,
  ...destinationEndpoints,
  ...impressionEndpoints,
  ...linkEndpoints,
  ...appFileEndpoints,
  ...operationEndpoints,
  ...assistantEndpoints(within),
];

const isOfTeamApi = (path: string) => path.startsWith('/v1/');

/** The team API. */
export const teamApi = createApp(teamFailure, (app) => {
  mount(
    app,
    ENDPOINTS.filter(({ path }) => isOfTeamApi(path)),
  );
});

/** Every other route. */
export const service: ReturnType<typeof createApp> = createApp(
  ingestionFailure,
  (app) => {
    mount(
      app,
      ENDPOINTS.filter(({ path }) => !isOfTeamApi(path)),
    );
    app.route('/', restoreRoutes);
    app.route('/', docsRoutes(ENDPOINTS));
  },
  answerPage,
);
