import { DurableObject } from 'cloudflare:workers';
import type { LoggedEvent } from '#catalogue';
import type { EventFilter } from '#lake';
import { RecentMap } from '#lib/collections/recent-map';
import { countsImplausibly } from './amounts/amount-book.ts';
import type { AppendedStatus, CountedAmount, FilePage, LogPage, StoredDevice } from './api.ts';
import type {
  ClientTotals,
  Cohort,
  DeviceFilter,
  DoubtsAnswer,
  DoubtsQuestion,
  FunnelAnswer,
  FunnelQuestion,
  OutcomesAnswer,
  OutcomesQuestion,
  Payers,
  PayersQuery,
  PurchasesAnswer,
  PurchasesQuestion,
} from './api-questions.ts';
import { readDevice } from './devices/devices.ts';
import { countedAmounts } from './files/counted-amounts.ts';
import { erasedAmong, erasedClick, filesToRewrite } from './files/file-erasures.ts';
import { listFiles } from './files/file-index.ts';
import { eventStatus, readLog } from './files/log-reader.ts';
import { isolateMemory } from './isolate-memory.ts';
import { TransactionBook } from './keys/transaction-book.ts';
import { type CounterLog, progressOf } from './log.ts';
import { AnswerCache } from './questions/answer-cache.ts';
import { countDoubts } from './questions/doubts.ts';
import { countFunnel } from './questions/funnel.ts';
import { countOutcomes } from './questions/outcomes.ts';
import { countPurchases } from './questions/purchases.ts';
import { clientTotals, payers } from './questions/queries.ts';
import type { RunScheduler } from './runs/run-scheduler.ts';
import { SeenIds } from './seen-ids.ts';
import { readCounterName } from './shards.ts';
import { type ObjectStore, openStore } from './store.ts';

/** A question keeps no more than this of what it reads. */
const MAX_ANSWER_BYTES = 24_000_000;

/** At least twice as many as one list of events has. */
const MAX_AMOUNTS = 1_000;

/** The read-only calls of a counter. */
export abstract class AnsweringCounter extends DurableObject<Env> {
  protected opened: ObjectStore = openStore(this.ctx.storage);
  protected seen = new SeenIds(this.opened);
  protected abstract readonly scheduler: RunScheduler;
  /** Of duplicates: the live view asks every few seconds for all that it lists, each answer stays, and finding one reads the keys of the whole log. */
  private readonly amounts = new RecentMap<string, CountedAmount | null>(MAX_AMOUNTS);
  private readonly payersAnswers = new AnswerCache<Payers>(() => this.scheduler.deviceVersion);

  /** The store that calls read. */
  protected get store(): ObjectStore {
    return this.opened;
  }

  async readDevice(id: string): Promise<StoredDevice | null> {
    return readDevice(this.store, id);
  }

  async filesToRewrite(ids: string[]): Promise<number> {
    return filesToRewrite(this.store, ids);
  }

  async erasedClick(deviceId: string): Promise<string | null> {
    return erasedClick(this.store, deviceId);
  }

  async readLog(filter: EventFilter, before: string | null, limit: number): Promise<LogPage> {
    return readLog(this.store, this.applicationId, filter, before, limit);
  }

  async listFiles(
    filter: EventFilter,
    range: { before: string | null; after: string | null },
  ): Promise<FilePage> {
    return listFiles(this.store, filter, range);
  }

  async erasedAmong(ids: string[]): Promise<string[]> {
    return erasedAmong(this.store, ids);
  }

  async eventStatus(eventId: string): Promise<AppendedStatus | null> {
    return eventStatus(this.log, eventId);
  }

  async eventStatuses(eventIds: string[]): Promise<(AppendedStatus['status'] | null)[]> {
    return eventIds.map((id) => eventStatus(this.log, id)?.status ?? null);
  }

  async countedAmounts(eventIds: string[]): Promise<(CountedAmount | null)[]> {
    const asked = eventIds.filter((id) => this.amounts.get(id) === undefined);
    const found = countedAmounts(this.log, asked);
    for (const [index, id] of asked.entries()) this.amounts.set(id, found[index] ?? null);
    return eventIds.map((id) => this.amounts.get(id) ?? null);
  }

  async knownPurchases(ids: string[]): Promise<string[]> {
    return new TransactionBook(this.store, 0).purchasesAmong(ids);
  }

  async isWaiting(event: LoggedEvent): Promise<boolean> {
    return new TransactionBook(this.store, 0).isWaiting(event);
  }

  async countsImplausibly(event: LoggedEvent): Promise<boolean> {
    return countsImplausibly(this.store, event);
  }

  async clientTotals(cohort: Cohort, filter: DeviceFilter = {}): Promise<ClientTotals> {
    return await this.withMemory(() => clientTotals(this.store, cohort, filter));
  }

  async doubts(question: DoubtsQuestion): Promise<DoubtsAnswer> {
    return await this.withMemory(() => countDoubts(this.store, question));
  }

  async funnel(question: FunnelQuestion): Promise<FunnelAnswer> {
    return await this.withMemory(() => countFunnel(this.store, question));
  }

  async outcomes(question: OutcomesQuestion): Promise<OutcomesAnswer> {
    return await this.withMemory(() => countOutcomes(this.store, question));
  }

  async purchases(question: PurchasesQuestion): Promise<PurchasesAnswer> {
    return await this.withMemory(() => countPurchases(this.store, question));
  }

  async payers(query: PayersQuery): Promise<Payers> {
    const { store } = this;
    return await this.payersAnswers.answer(JSON.stringify(query), () =>
      this.withMemory(() => payers(store, query)),
    );
  }

  /** Answers a question about all devices, which takes no more memory than they do in storage, or than the limit. */
  private withMemory<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
    return isolateMemory.use(Math.min(MAX_ANSWER_BYTES, this.ctx.storage.sql.databaseSize), answer);
  }

  protected get log(): CounterLog {
    const { store, seen, applicationId } = this;
    return { store, seen, applicationId };
  }

  protected get name(): string {
    // An alarm does not receive its object's name, so that one is stored.
    return this.ctx.id.name ?? progressOf(this.store).name;
  }

  protected get applicationId(): string {
    return readCounterName(this.name).applicationId;
  }

  protected get shard(): number {
    return readCounterName(this.name).shard;
  }
}
