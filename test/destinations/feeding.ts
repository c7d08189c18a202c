import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { OutboundPart } from '#counting';
import { database, destinations } from '#db';
import { newId } from '#lib/ids';
import { startCounter } from '../helpers/counter.ts';

const db = database(env.DB);

type Row = Partial<typeof destinations.$inferInsert>;

/** A counter of an application with destinations, and what it hands over to them. */
export async function startFeeding(applicationId: string, ...rows: Row[]) {
  const ids = rows.map(() => newId('dst'));
  for (const [index, row] of rows.entries()) {
    await db.insert(destinations).values({
      ...{ id: ids[index] ?? '', applicationId, kind: 'webhook', settings: {}, credentials: '' },
      ...{ events: ['install', 'purchase'], filter: {}, version: 1, toldVersion: 1, createdAt: 0, ...row },
    });
  }
  const counter = startCounter(applicationId);
  const sent = new Map<string, OutboundPart[]>(ids.map((id) => [id, []]));
  const known = new Set<string>();
  /** A part counts once, as for a destination. */
  const take = (id: string, parts: { id: string; payload: string }[]) => {
    for (const part of parts) {
      if (known.has(part.id)) continue;
      known.add(part.id);
      sent.get(id)?.push(JSON.parse(part.payload));
    }
  };
  const feed = () =>
    counter.inside(async (own) => {
      own.sendParts = async (id, parts) => take(id, parts);
      await own.settle();
      await own.alarm();
      await own.fed();
    });
  const kill = () => evictDurableObject(counter.stub());
  const eventsOf = (id: string | undefined) =>
    (sent.get(id ?? '') ?? []).flatMap((part) => ('events' in part ? part.events : []));
  return {
    ...counter,
    ids,
    sent,
    take,
    feed,
    kill,
    eventsOf,
    idsOf: (id: string | undefined) => eventsOf(id).map(({ event }) => event.id),
  };
}
