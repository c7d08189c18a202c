import type { Context } from 'hono';
import type { applications } from '#db';

type ApplicationRow = typeof applications.$inferSelect;

/** An application, authenticated by its API key, with everything that the hot path needs, so that a cache hit needs no database. */
export type AuthenticatedApplication = {
  id: string;
  teamId: string;
  timezone: string;
  dataCollection: boolean;
  /** See `addCrossOrigin`. */
  allowedOrigins: string[];
  /** The number of counters that its devices are spread over, up to a minute out of date: see `createDevices`. */
  shards: number;
  /** How long after a click a device can name it, and how long it can be guessed (0: never). */
  attributionWindowHours: number;
  probabilisticWindowHours: number;
  viewWindowHours: number;
  fraudRules: ApplicationRow['fraudRules'];
  judgedSources: ApplicationRow['judgedSources'];
  /** Encrypted; null if Meta's install referrers are not read. */
  metaReferrerKey: string | null;
  /** Whether Apple is asked about AdServices tokens. */
  appleAds: boolean;
  /** Whether ads that networks name are created with the first install. */
  createFromNetworks: boolean;
};

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
