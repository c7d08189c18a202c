import { nanosOf } from '#lib/money';
import { toNetwork } from '#networks';

// Reports with a row for each impression: CSV, up to hundreds of megabytes, read as they arrive and summed up by network.

/** Impressions and revenue in billionths, by network. */
export type NetworkSums = Map<string, { impressions: number; nanos: bigint }>;

/** Longer lines are no report. */
const MAX_LINE_CHARACTERS = 100_000;
const MAX_NETWORKS = 1_000;

const GZIP = [0x1f, 0x8b] as const;

/** The bytes, inflated if they are gzip, whatever the answer's headers say of them. */
async function* inflated(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const first: Uint8Array[] = [];
  for (let bytes = 0; bytes < GZIP.length; bytes += first.at(-1)?.length ?? 0) {
    const { done, value } = await reader.read();
    if (done) break;
    first.push(value);
  }
  const start = Uint8Array.from(first.flatMap((chunk) => [...chunk.subarray(0, GZIP.length)]));
  const rest = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of first) controller.enqueue(chunk);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const isGzip = GZIP.every((byte, index) => start[index] === byte);
  yield* isGzip
    ? rest.pipeThrough(new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array>)
    : rest;
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of inflated(body)) {
    text += decoder.decode(chunk, { stream: true });
    const complete = text.split('\n');
    text = complete.pop() ?? '';
    if (text.length > MAX_LINE_CHARACTERS) throw new Error('the report has a line that is too long');
    yield* complete;
  }
  text += decoder.decode();
  if (text !== '') yield text;
}

/** The fields of a line (RFC 4180, without line breaks in fields). */
function fieldsOf(line: string): string[] {
  const plain = line.replace(/\r$/, '');
  if (!plain.includes('"')) return plain.split(',');
  return [...plain.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare = '']) =>
    quoted === undefined ? bare : quoted.replaceAll('""', '"'),
  );
}

const nameOf = (header: string) => header.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The names that platforms give the two columns, without their spaces and underscores. */
const COLUMNS = {
  network: ['network', 'adnetwork', 'networkname', 'adnetworkname'],
  revenue: ['revenue', 'adrevenue'],
};

/** A demand source as reports call its network: `UNITY_BIDDING` and `Unity Ads` are the same. */
export const demandOf = (text: string): string => toNetwork(text.replace(/[ _-]?bidding$/i, '')) || 'unknown';

/**
 * Adds up a report by network. Throws if it lacks a column or has an amount that is none. Negative amounts, by which networks say that they
 * do not know one, count as 0.
 */
export async function sumByNetwork(
  body: ReadableStream<Uint8Array>,
  sums: NetworkSums = new Map(),
): Promise<NetworkSums> {
  const demand = new Map<string, string>();
  let places: { network: number; revenue: number } | null = null;
  for await (const line of lines(body)) {
    const fields = fieldsOf(line);
    if (line.trim() === '') continue;
    if (places === null) {
      const names = fields.map((field) => nameOf(field.replace(/^\ufeff/, '')));
      const placeOf = (column: keyof typeof COLUMNS) => {
        const place = names.findIndex((name) => COLUMNS[column].includes(name));
        if (place < 0) throw new Error(`the report has no column ${column}`);
        return place;
      };
      places = { network: placeOf('network'), revenue: placeOf('revenue') };
      continue;
    }
    const sent = fields[places.network] ?? '';
    const network = demand.get(sent) ?? demandOf(sent);
    demand.set(sent, network);
    if (demand.size > MAX_NETWORKS) throw new Error(`the report has more than ${MAX_NETWORKS} networks`);
    const nanos = nanosOf(fields[places.revenue]?.trim() || '0');
    if (nanos === null) throw new Error('the report has a revenue that is not a number');
    const sum = sums.get(network) ?? { impressions: 0, nanos: 0n };
    sum.impressions++;
    if (nanos > 0n) sum.nanos += nanos;
    sums.set(network, sum);
  }
  return sums;
}
