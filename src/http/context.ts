import type { Context } from 'hono';
import type { applications } from '#db';

/**
 * An application, authenticated by its API key, with everything that the hot path needs, so that a cache hit needs no database. It is up to a
 * minute out of date, and so is its number of counters: see `createDevices`.
 */
export type AuthenticatedApplication = typeof applications.$inferSelect;

/** A team, authenticated by its access token. */
export type AuthenticatedTeam = { id: string; accessTokenId: string };

export type AppEnv = {
  Bindings: Env;
  Variables: {
    requestId: string;
    application: AuthenticatedApplication;
    team: AuthenticatedTeam;
    /** The size limit of the body, in bytes: see `limitBody`. */
    maxBodyBytes?: number;
    /** The application that a refused request without a credential claims to be for, for the debugger; empty if there is none. */
    claimedApplicationId?: string;
    /** The event in the request, for the log. */
    eventId?: string;
    /** The route of the dashboard's page, such as `/creatives/:id`. */
    page?: string | undefined;
  };
};

export type AppContext = Context<AppEnv>;

/** Lets work finish although its request has been answered, or its client has gone; for half a minute at most. */
export type KeepAlive = (work: Promise<unknown>) => void;

export const keepAliveOf =
  (c: Pick<AppContext, 'executionCtx'>): KeepAlive =>
  (work) =>
    c.executionCtx.waitUntil(work);
