import { JournalQueue } from './worker.ts';

/** A queue whose sends wait until the test lets them go. */
export class GatedQueue extends JournalQueue {
  /** The sends that wait, in order. */
  readonly held: { bodies: string[]; release: () => void; fail: () => void }[] = [];
  /** How many sends there have been. */
  sends = 0;
  isOpen = false;

  override async sendBatch(messages: Iterable<{ body: unknown }>): Promise<void> {
    const sent = [...messages];
    this.sends++;
    if (!this.isOpen) {
      const gate = Promise.withResolvers<void>();
      const fail = () => gate.reject(new Error('Queue send failed'));
      this.held.push({ bodies: sent.map(({ body }) => String(body)), release: gate.resolve, fail });
      await gate.promise;
    }
    await super.sendBatch(sent);
  }

  /** Lets go all sends, and what is sent from now on. */
  open(): void {
    this.isOpen = true;
    for (const { release } of this.held.splice(0)) release();
  }
}
