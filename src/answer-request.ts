import { ingestionRoutes } from '#ingestion/routes';
import { LINK_TOKEN, trackingRoutes } from '#tracking';
import { createApp } from './app.ts';

// Most requests are events and clicks, and most isolates see nothing else. They start with these routes alone; the others are
// loaded by the first request for one of them.
const busyRoutes = createApp((app) => {
  app.route('/', ingestionRoutes);
  app.route('/', trackingRoutes);
});

/** The first segment of an address's path. */
const firstSegment = (url: string) => /^(?:https?:\/\/[^/]+)?\/([^/?#]*)/.exec(url)?.[1] ?? '';

// What is registered for all methods is what all routes share.
const busySegments = new Set(
  busyRoutes.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => firstSegment(path)),
);

/** A link under an address of its own (see `trackingHost`) is a token alone, and nothing else has that form. */
const isBusy = (segment: string) => busySegments.has(segment) || LINK_TOKEN.test(segment);

async function answerOther(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
  const { service } = await import('./service.ts');
  return service.fetch(request, env, ctx);
}

/** Answers any request. */
export const answerRequest = (request: Request, env: Env, ctx: ExecutionContext) =>
  isBusy(firstSegment(request.url)) ? busyRoutes.fetch(request, env, ctx) : answerOther(request, env, ctx);
