import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import {
  type AppContext,
  type AppEnv,
  AppError,
  answerError,
  type ErrorBody,
  everyRequest,
  toAppError,
} from '#http';
import { noteRejection } from '#ingestion';
import { trackingHost } from '#tracking';

/**
 * Creates the app of an API, with the routes that `mount` adds, the API's error body, and the headers and log that all routes share. An API
 * is an app and not a sub-app, because a sub-app with its own `onError` makes Hono wrap each of its handlers and middlewares: `/webhook`
 * then took 4 to 11 % more CPU (Hono 4.13). `answerUnknown` may answer a request for an address that no route has; it returns null for
 * the usual error.
 */
export function createApp(
  describe: ErrorBody,
  mount: (app: Hono<AppEnv>) => void,
  answerUnknown: (c: AppContext) => Promise<Response | null> = async () => null,
): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(trackingHost(app));
  app.use(everyRequest);
  mount(app);
  const refuseOtherMethods = methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => {
      const headers = { Allow: methods.join(', ') };
      return answerError(c, new AppError('method_not_allowed', 'Method not allowed', { headers }), describe);
    },
  });
  app.notFound(async (c) => {
    await refuseOtherMethods(c, async () => {
      c.res = (await answerUnknown(c)) ?? answerError(c, new AppError('not_found', 'Not found'), describe);
    });
    return c.res;
  });
  app.onError(async (thrown, c) => {
    const response = answerError(c, thrown, describe);
    await noteRejection(c, toAppError(thrown), response.status);
    return response;
  });
  return app;
}
