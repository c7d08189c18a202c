const OPERATIONS = 3;
const OPERATION_BYTES = 65_536;

const encoder = new TextEncoder();

/** What a message costs: it is written, read and deleted, each per 64 KB. */
export const operationsOf = (bytes: number): number => OPERATIONS * Math.ceil(bytes / OPERATION_BYTES);

/** A queue that is watched. */
export class QueueMeter {
  messages = 0;
  operations = 0;
  /** How long a send takes, in milliseconds. */
  sendMs = 0;
  readonly binding: Queue;

  /** Sends to `queue`; null for a queue that only takes its time. */
  constructor(queue: Queue | null) {
    const send = async (body: unknown, options?: QueueSendOptions) => {
      this.count(body);
      if (queue) return queue.send(body, options);
      return this.wait();
    };
    const sendBatch = async (messages: Iterable<MessageSendRequest>) => {
      const sent = [...messages];
      for (const { body } of sent) this.count(body);
      if (queue) return queue.sendBatch(sent);
      return this.wait();
    };
    this.binding = { send, sendBatch } as unknown as Queue;
  }

  private count(body: unknown): void {
    this.messages++;
    this.operations += operationsOf(encoder.encode(String(body)).length);
  }

  private async wait(): Promise<void> {
    if (this.sendMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, this.sendMs));
  }
}
