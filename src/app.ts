import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { creativeRoutes } from '#creatives';
import { dashboardRoutes } from '#dashboard';
import { deletionRoutes } from '#deletion';
import { deviceRoutes } from '#devices';
import { docsRoutes } from '#docs';
import { eventRoutes } from '#events';
import {
  type AppEnv,
  AppError,
  answerError,
  answerHeaders,
  requestLog,
  shapeErrors,
  teamFailure,
  toAppError,
} from '#http';
import { ingestionRoutes, noteRejection } from '#ingestion';
import { moneyRoutes } from '#money';
import { operationRoutes } from '#operations';
import { reportRoutes } from '#reports';
import { teamRoutes } from '#teams';
import { trackingHost, trackingRoutes } from '#tracking';

export function createApp(): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(trackingHost(app));
  app.use(answerHeaders, requestLog);
  app.use('/v1/*', shapeErrors(teamFailure));
  app.route('/', ingestionRoutes);
  app.route('/', teamRoutes);
  app.route('/', deletionRoutes);
  app.route('/', eventRoutes);
  app.route('/', deviceRoutes);
  app.route('/', moneyRoutes);
  app.route('/', creativeRoutes);
  app.route('/', reportRoutes);
  app.route('/', operationRoutes);
  app.route('/', dashboardRoutes);
  app.route('/', trackingRoutes);
  app.route('/', docsRoutes);
  const refuseOtherMethods = methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => {
      const headers = { Allow: methods.join(', ') };
      return answerError(c, new AppError('method_not_allowed', 'Method not allowed', { headers }));
    },
  });
  app.notFound(async (c) => {
    await refuseOtherMethods(c, async () => {
      c.res = answerError(c, new AppError('not_found', 'Not found'));
    });
    return c.res;
  });
  app.onError(async (thrown, c) => {
    const response = answerError(c, thrown);
    await noteRejection(c, toAppError(thrown), response.status);
    return response;
  });
  return app;
}
