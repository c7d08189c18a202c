import { guardDatabase } from '#db';
import { mount, noteArrival } from '#http';
import { ingestionFailure } from '#ingestion';
import { ingestionEndpoints } from '#ingestion/routes';
import { LINK_TOKEN } from '#tracking';
import { linkEndpoints } from '#tracking/routes';
import { createApp } from './app.ts';

// Most requests are events and clicks, and many isolates receive nothing else. An isolate therefore starts with only these routes, and
// loads the others on the first request for one of them.
const busyRoutes = createApp(ingestionFailure, (app) => {
  mount(app, [...ingestionEndpoints, ...linkEndpoints]);
});

/** The first segment of a URL's path. */
const firstSegment = (url: string) => /^(?:https?:\/\/[^/]+)?\/([^/?#]*)/.exec(url)?.[1] ?? '';

// Handlers registered for all methods are the middleware that all routes share.
const busySegments = new Set(
  busyRoutes.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => firstSegment(path)),
);

/** On a separate tracking host (see `trackingHost`), a link's path is just its token. No other path has that form. */
const isBusy = (segment: string) => busySegments.has(segment) || LINK_TOKEN.test(segment);

async function answerOther(
  segment: string,
  request: Request,
  env: Env,
  ctx: ExecutionContext,
): Promise<Response> {
  const { service, teamApi } = await import('./service.ts');
  // The team API asks once it knows the caller.
  if (segment === 'v1') return teamApi.fetch(request, env, ctx);
  return service.fetch(request, await guardDatabase(env), ctx);
}

/** Answers any request. */
export function answerRequest(request: Request, env: Env, ctx: ExecutionContext) {
  noteArrival();
  const segment = firstSegment(request.url);
  return isBusy(segment) ? busyRoutes.fetch(request, env, ctx) : answerOther(segment, request, env, ctx);
}
