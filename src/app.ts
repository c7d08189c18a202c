import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import {
  type AppContext,
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

/**
 * Creates an app with the routes that `mount` adds, and the headers, log and error handling that all routes share. `answerUnknown` may answer
 * a request for an address that no route has; it returns null for the usual error.
 */
export function createApp(
  mount: (app: Hono<AppEnv>) => void,
  answerUnknown: (c: AppContext) => Promise<Response | null> = async () => null,
): Hono<AppEnv> {
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
      c.res = (await answerUnknown(c)) ?? answerError(c, new AppError('not_found', 'Not found'));
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
