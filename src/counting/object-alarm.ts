/** The single alarm of an object, set for the earliest of the requested times. */
export class ObjectAlarm {
  private readonly storage: DurableObjectStorage;
  /** The time it is set for; null if it is not set, undefined if unknown. */
  private at: number | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.storage = storage;
  }

  /** Call it when the alarm fires, after which it is no longer set. */
  rang(): void {
    this.at = null;
  }

  /** Must be called when the storage was opened or deleted: it is then unknown whether an alarm is set. */
  forget(): void {
    this.at = undefined;
  }

  /** Whether it is known what the alarm is set for. */
  get isKnown(): boolean {
    return this.at !== undefined;
  }

  /** Sets the alarm for a time (epoch milliseconds), unless it is set for an earlier one. */
  async setFor(at: number): Promise<void> {
    if (this.at === undefined) this.at = await this.storage.getAlarm();
    if (this.at !== null && this.at <= at) return;
    // If this fails, the next call checks whether there is an alarm.
    this.at = undefined;
    await this.storage.setAlarm(at);
    this.at = at;
  }
}
