import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
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
import { noteRejection } from '#ingestion';
import { trackingHost } from '#tracking';

/** An app of the routes that `mount` adds, with what all routes share: headers, log and errors. */
export function createApp(mount: (app: Hono<AppEnv>) => void): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(trackingHost(app));
  app.use(answerHeaders, requestLog);
  app.use('/v1/*', shapeErrors(teamFailure));
  mount(app);
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
