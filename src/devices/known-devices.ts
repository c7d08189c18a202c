import { type FoundDevice, findDevices, possibleShards } from '#counting';
import type { AuthenticatedApplication } from '#http';
import type { Draft } from './draft.ts';

/** Which drafts' devices the counters already know. Asks about each draft at most once. */
export class KnownDevices {
  /** By the draft's `claim`. */
  readonly found = new Map<string, FoundDevice>();
  private readonly asked = new Set<string>();
  private readonly env: Env;
  private readonly application: AuthenticatedApplication;

  constructor(env: Env, application: AuthenticatedApplication) {
    this.env = env;
    this.application = application;
  }

  has = ({ claim }: Draft): boolean => this.found.has(claim);

  isUnasked = ({ alias }: Draft): boolean => alias !== null && !this.asked.has(alias);

  /** Whether the device may be in another counter than the one that would create it. */
  mayLiveElsewhere = ({ alias }: Draft): boolean =>
    alias !== null && possibleShards(alias, this.application.shards).length > 1;

  async ask(drafts: readonly Draft[]): Promise<void> {
    const { id, shards } = this.application;
    const aliases = drafts.filter(this.isUnasked).flatMap(({ alias }) => alias ?? []);
    if (aliases.length === 0) return;
    const found = await findDevices(this.env, id, shards, aliases);
    for (const alias of aliases) this.asked.add(alias);
    for (const [claim, device] of found) this.found.set(claim, device);
  }
}
