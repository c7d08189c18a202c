/** The alarm of an object, which has one: it is set for the earliest of the times that are asked for. */
export class ObjectAlarm {
  private readonly storage: DurableObjectStorage;
  /** When it is set for; null for not set, undefined where that is not known. */
  private at: number | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.storage = storage;
  }

  /** To be called when it rings: it is no longer set then. */
  rang(): void {
    this.at = null;
  }

  /** To be called when the storage was deleted or opened: whether it is set is then unknown. */
  forget(): void {
    this.at = undefined;
  }

  /** Sets it for a time (epoch milliseconds), unless it is set for an earlier one. */
  async setFor(at: number): Promise<void> {
    if (this.at === undefined) this.at = await this.storage.getAlarm();
    if (this.at !== null && this.at <= at) return;
    // Where this fails, the next call looks whether there is an alarm.
    this.at = undefined;
    await this.storage.setAlarm(at);
    this.at = at;
  }
}
