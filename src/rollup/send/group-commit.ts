import type { MessagePart } from '../message.ts';
import { sendParts } from './send-parts.ts';
import { TIME_LIMIT_MS } from './send-with-retry.ts';

// One message for many requests (group commit, as databases do it): a request that arrives while nothing is on its way sends at once; those
// that arrive meanwhile wait, and go together when the message has been taken. See docs/adr/0030-group-commit.md.
//
// Each message is sent by a request whose part is in it, the leader. When it is done, it tells the others of the message what became of it, and
// makes the first of those that wait the next leader. A request that ends, fails or hangs while it leads therefore holds up nobody for longer
// than `PATIENCE_MS`: then each of those that rely on it acts by itself.
//
// The runtime continues a request in its own context if it awaits a promise that it made itself, whichever request resolves it. So requests
// share only promises, texts and the queue, and never wait for another one's work.

/**
 * How long a request relies on others to send its part. Then it sends it by itself, perhaps a second time: counters recognize an event's id. Far
 * longer than a send takes, and short enough to be answered within the time limit of a send.
 */
const PATIENCE_MS = 2_000;

/** What another request tells one that waits: to send what waits, or whether the queue has accepted its part. */
type TurnNotice = 'lead' | 'accepted' | 'refused';

/** A request that waits for its part to be sent. */
class Member {
  readonly notice = Promise.withResolvers<TurnNotice>();
  readonly since = Date.now();
  readonly part: MessagePart;

  constructor(part: MessagePart) {
    this.part = part;
  }

  /** The notice, if it comes within that time; else null. The runtime requires a timer, too: a request with nothing of its own to wait for hangs. */
  async noticeWithin(milliseconds: number): Promise<TurnNotice | null> {
    const silence = Promise.withResolvers<null>();
    const timer = setTimeout(() => silence.resolve(null), milliseconds);
    try {
      return await Promise.race([this.notice.promise, silence.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The requests of an isolate that send to the same queue under the same head. */
class MessageGroup {
  /** In the order of their arrival. */
  private waiting: Member[] = [];
  /** Sends now, or has been told to. Null while the first of those that wait lingers. */
  private leader: Member | null = null;
  private readonly queue: Queue;
  private readonly head: string;
  private readonly lingerMs: number;
  private readonly onEmpty: () => void;

  constructor(queue: Queue, head: string, lingerMs: number, onEmpty: () => void) {
    this.queue = queue;
    this.head = head;
    this.lingerMs = lingerMs;
    this.onEmpty = onEmpty;
  }

  /** See `commit`. */
  async send(part: MessagePart): Promise<boolean> {
    const own = new Member(part);
    this.waiting.push(own);
    const isAlone = this.leader === null && this.lingerMs === 0;
    const notice = isAlone ? 'lead' : await this.waitForTurn(own);
    return notice === 'lead' ? this.lead(own) : notice === 'accepted';
  }

  private async waitForTurn(own: Member): Promise<TurnNotice> {
    if (this.lingerMs > 0) {
      const notice = await own.noticeWithin(this.lingerMs);
      if (notice) return notice;
      if (this.leader === null) return 'lead';
    }
    return (await own.noticeWithin(PATIENCE_MS)) ?? 'lead';
  }

  /**
   * Sends what waits. If another request has taken this one's part and not said what became of it, that one may be dead: then this one sends
   * its own part, and goes on for the other.
   */
  private async lead(own: Member): Promise<boolean> {
    this.leader = own;
    const members = this.waiting.includes(own) ? this.waiting.splice(0) : [own];
    const memberOf = new Map(members.map((member) => [member.part, member]));
    let isOwnAccepted = false;
    const onSent = (part: MessagePart, isAccepted: boolean) => {
      if (part === own.part) isOwnAccepted = isAccepted;
      else memberOf.get(part)?.notice.resolve(isAccepted ? 'accepted' : 'refused');
    };
    const deadline = own.since + this.lingerMs + TIME_LIMIT_MS;
    await sendParts(this.queue, this.head, [...memberOf.keys()], onSent, deadline);
    if (this.leader === own) this.appointNext();
    return isOwnAccepted;
  }

  private appointNext(): void {
    const [next = null] = this.waiting;
    const isDue = next !== null && Date.now() - next.since >= this.lingerMs;
    this.leader = isDue ? next : null;
    if (isDue) next.notice.resolve('lead');
    if (next === null) this.onEmpty();
  }
}

const groups = new WeakMap<Queue, Map<string, MessageGroup>>();

function groupOf(queue: Queue, head: string, lingerMs: number): MessageGroup {
  const ofQueue = groups.get(queue) ?? new Map<string, MessageGroup>();
  groups.set(queue, ofQueue);
  let group = ofQueue.get(head);
  if (!group) {
    group = new MessageGroup(queue, head, lingerMs, () => ofQueue.delete(head));
    ofQueue.set(head, group);
  }
  return group;
}

/**
 * Sends a part of a message, with those of other requests of this isolate for the same queue under the same head. Returns whether the queue has
 * accepted it. `lingerMs`: how long it waits for company even if nothing is on its way. The caller lets the work finish (`waitUntil`) if its
 * request ends before, because others may rely on it.
 */
export const commit = (queue: Queue, head: string, part: MessagePart, lingerMs: number): Promise<boolean> =>
  groupOf(queue, head, lingerMs).send(part);
