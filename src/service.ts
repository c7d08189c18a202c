import { alertRoutes } from '#alerts/routes';
import { assistantRoutes } from '#assistants/routes';
import { restoreRoutes } from '#backup/routes';
import { connectorRoutes } from '#connectors/routes';
import { creativeRoutes } from '#creatives/routes';
import { answerPage } from '#dashboard';
import { deletionRoutes } from '#deletion/routes';
import { destinationRoutes } from '#destinations/routes';
import { deviceRoutes } from '#devices/routes';
import { docsRoutes } from '#docs/routes';
import { eventRoutes } from '#events/routes';
import { teamFailure } from '#http';
import { impressionRoutes } from '#impressions/routes';
import { ingestionFailure } from '#ingestion';
import { ingestionRoutes } from '#ingestion/routes';
import { moneyRoutes } from '#money/routes';
import { noteRoutes } from '#notes/routes';
import { healthRoutes, operationRoutes } from '#operations/routes';
import { reportRoutes } from '#reports/routes';
import { postbackRoutes, skanRoutes } from '#skan/routes';
import { storeRoutes } from '#stores/routes';
import { teamRoutes } from '#teams/routes';
import { appLinkRoutes, trackingRoutes } from '#tracking';
import { createApp } from './app.ts';

/** The team API: every route under `/v1`. */
export const teamApi = createApp(teamFailure, (app) => {
  app.route('/', teamRoutes);
  app.route('/', deletionRoutes);
  app.route('/', eventRoutes);
  app.route('/', deviceRoutes);
  app.route('/', moneyRoutes);
  app.route('/', noteRoutes);
  app.route('/', creativeRoutes);
  app.route('/', reportRoutes);
  app.route('/', alertRoutes);
  app.route('/', operationRoutes);
  app.route('/', skanRoutes);
  app.route('/', connectorRoutes);
  app.route('/', destinationRoutes);
});

/** Answers what the tools of assistants ask. */
const within = (request: Request, env: Env, ctx: ExecutionContext) =>
  (new URL(request.url).pathname.startsWith('/v1/') ? teamApi : service).fetch(request, env, ctx);

/** Every other route. */
export const service: ReturnType<typeof createApp> = createApp(
  ingestionFailure,
  (app) => {
    app.route('/', ingestionRoutes);
    app.route('/', healthRoutes);
    app.route('/', restoreRoutes);
    app.route('/', trackingRoutes);
    app.route('/', appLinkRoutes);
    app.route('/', docsRoutes);
    app.route('/', postbackRoutes);
    app.route('/', impressionRoutes);
    app.route('/', storeRoutes);
    app.route('/', assistantRoutes(within));
  },
  answerPage,
);
