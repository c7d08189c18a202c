import type { Context } from 'hono';
import type { ErrorBody } from './errors.ts';

/** An application as its API key proves it; everything that the hot path needs, so that a warm one needs no database. */
export type AuthenticatedApplication = {
  id: string;
  teamId: string;
  timezone: string;
  dataCollection: boolean;
  /** Over how many counters its devices are spread, as it was a minute ago: see `createDevices`. */
  shards: number;
};

/** A team as its access token proves it. */
export type AuthenticatedTeam = { id: string; accessTokenId: string };

export type AppEnv = {
  Bindings: Env;
  Variables: {
    requestId: string;
    application: AuthenticatedApplication;
    team: AuthenticatedTeam;
    /** The event that the request brought, for the log. */
    eventId?: string;
    /** The shape of the API's errors; see `shapeErrors`. */
    errorBody?: ErrorBody;
  };
};

export type AppContext = Context<AppEnv>;
