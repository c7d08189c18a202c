import { seededRandom } from '../helpers/random.ts';

/**
 * Shares of the calls that fail before and after they took effect, of the database and, as it is called seldom, more of the bucket;
 * how often an object dies in a call.
 */
export type Faults = {
  database: Share;
  bucket: Share;
  deaths: number;
  /** The database answers reads, but accepts no writes, and retrying at once does not help. */
  isFull?: boolean;
  /** The database answers nothing, as one that is locked. */
  isLocked?: boolean;
  /** The share of the database's calls that it is too busy for. */
  throttled?: number;
};
type Share = { before: number; after: number };
export const CALM: Faults = {
  database: { before: 0, after: 0 },
  bucket: { before: 0, after: 0 },
  deaths: 0,
};
export const STORM: Faults = {
  database: { before: 0.05, after: 0.05 },
  bucket: { before: 0.15, after: 0.15 },
  deaths: 0.03,
};

/** An outage of the database: it is full, locked, or too busy for most calls. */
export const FULL: Faults = { ...STORM, isFull: true };
export const LOCKED: Faults = { ...STORM, isLocked: true };
export const THROTTLED: Faults = { ...STORM, throttled: 0.6 };

/** What happened, in this process. */
export const seen = {
  databaseFaults: 0,
  databaseFull: 0,
  databaseLocked: 0,
  databaseThrottled: 0,
  bucketCalls: 0,
  bucketFaults: 0,
  deaths: 0,
};

const OVERLOADED = 'D1_ERROR: D1 DB is overloaded. Requests queued for too long';
const BUSY = 'D1_ERROR: database is locked: SQLITE_BUSY';
const EXCEEDED = 'D1_ERROR: Exceeded maximum DB size';
const WRITE = /^\s*(?:insert|update|delete|replace)\b/i;

const TRANSIENT = [
  'D1_ERROR: Network connection lost',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset',
  OVERLOADED,
];

let faults = CALM;
let random: (() => number) | null = null;

export function setFaults(wanted: Faults): void {
  faults = wanted;
}

function dice(seed: string): number {
  random ??= seededRandom(Number(seed));
  return random();
}

/** As the platform says it of an object that was reset under a call. */
const RESET = 'Network connection lost.';

function dieByChance(object: DurableObjectState, seed: string): void {
  if (dice(seed) >= faults.deaths) return;
  seen.deaths++;
  object.abort(RESET);
}

/** Has an object do something, and die at random before or after it. */
export async function mayDie<Result>(
  object: DurableObjectState,
  seed: string,
  work: () => Promise<Result>,
): Promise<Result> {
  dieByChance(object, seed);
  const result = await work();
  dieByChance(object, seed);
  return result;
}

/** Runs one call, or fails before it, or after it without a word of whether it was kept. */
async function atRisk<Result>(
  seed: string,
  store: 'database' | 'bucket',
  work: () => Promise<Result>,
): Promise<Result> {
  const thrown = dice(seed);
  const { before, after } = faults[store];
  if (store === 'bucket') seen.bucketCalls++;
  const fail = () => {
    seen[`${store}Faults`]++;
    return new Error(TRANSIENT[Math.floor(dice(seed) * TRANSIENT.length)]);
  };
  if (thrown < before) throw fail();
  const result = await work();
  if (thrown < before + after) throw fail();
  return result;
}

/** Fails a call of the database during an outage. */
function refuseInOutage(seed: string, isWrite: boolean): void {
  if (faults.isLocked) {
    seen.databaseLocked++;
    throw new Error(BUSY);
  }
  if (faults.isFull && isWrite) {
    seen.databaseFull++;
    throw new Error(EXCEEDED);
  }
  if (dice(seed) < (faults.throttled ?? 0)) {
    seen.databaseThrottled++;
    throw new Error(OVERLOADED);
  }
}

export function failingDatabase(db: D1Database, seed: string): D1Database {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const writes = new WeakSet<object>();
  const failing = (statement: D1PreparedStatement, isWrite: boolean): D1PreparedStatement => {
    const proxy: D1PreparedStatement = new Proxy(statement, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name === 'bind') return (...bindings: unknown[]) => failing(target.bind(...bindings), isWrite);
        return (...values: unknown[]) =>
          atRisk(seed, 'database', async () => {
            refuseInOutage(seed, isWrite);
            return Reflect.apply(value, target, values);
          });
      },
    });
    originals.set(proxy, statement);
    if (isWrite) writes.add(proxy);
    return proxy;
  };
  const binding = {
    prepare: (sql: string) => failing(db.prepare(sql), WRITE.test(sql)),
    batch: (statements: D1PreparedStatement[]) =>
      atRisk(seed, 'database', async () => {
        refuseInOutage(
          seed,
          statements.some((statement) => writes.has(statement)),
        );
        return db.batch(statements.map((statement) => originals.get(statement) ?? statement));
      }),
    withSession: () => binding,
  };
  return binding as unknown as D1Database;
}

export function failingBucket(bucket: R2Bucket, seed: string): R2Bucket {
  return new Proxy(bucket, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]) =>
        atRisk(seed, 'bucket', async () => Reflect.apply(value, target, values));
    },
  });
}
