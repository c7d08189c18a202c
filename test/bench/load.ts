import { connect, type Socket } from 'node:net';

/** What a run of load gave: how many requests, how many per second, and the latencies in milliseconds. */
export type Load = { requests: number; perSecond: number; p50: number; p99: number; failures: number };

/**
 * Sends prepared HTTP/1.1 requests over `connections` kept-alive connections for `seconds`, each connection one request at a
 * time; as bare as it can be, because the client shares the machine with the server.
 */
export async function putLoad(
  url: URL,
  requests: Buffer[],
  connections: number,
  seconds: number,
): Promise<Load> {
  const latencies: number[] = [];
  let failures = 0;
  let next = 0;
  const deadline = performance.now() + seconds * 1000;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = await open(url);
      for (;;) {
        const request = requests[next++ % requests.length];
        const sentAt = performance.now();
        if (!request || sentAt >= deadline) break;
        const status = await exchange(socket, request);
        latencies.push(performance.now() - sentAt);
        if (status !== 200 && status !== 302) failures++;
      }
      socket.destroy();
    }),
  );
  latencies.sort((left, right) => left - right);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const elapsed = (performance.now() - startedAt) / 1000;
  const sent = latencies.length;
  return { requests: sent, perSecond: sent / elapsed, p50: at(0.5), p99: at(0.99), failures };
}

/**
 * Sends requests at random moments (a Poisson process) of this rate, whether earlier ones have been answered or not. Throws if one is not
 * answered with 200.
 */
export async function sendAtRate(
  url: URL,
  requests: readonly Buffer[],
  { perSecond, seconds, random }: { perSecond: number; seconds: number; random: () => number },
): Promise<{ requests: number; perSecond: number }> {
  const idle: Socket[] = [];
  const answers: Promise<void>[] = [];
  const startedAt = performance.now();
  const sendOne = async (request: Buffer) => {
    const socket = idle.pop() ?? (await open(url));
    const status = await exchange(socket, request);
    idle.push(socket);
    if (status !== 200) throw new Error(`${url} answered ${status}`);
  };
  let due = startedAt;
  for (let next = 0; ; next++) {
    due += (-Math.log(1 - random()) / perSecond) * 1000;
    const request = requests[next % requests.length];
    if (!request || due - startedAt > seconds * 1000) break;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    answers.push(sendOne(request));
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  await Promise.all(answers);
  for (const socket of idle) socket.destroy();
  return { requests: answers.length, perSecond: answers.length / elapsed };
}

/** Sends each of these requests once, over so many connections; throws if one is not answered with 200. */
export async function sendAll(url: URL, requests: readonly Buffer[], connections: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = await open(url);
      try {
        for (let request = requests[next++]; request; request = requests[next++]) {
          const status = await exchange(socket, request);
          if (status !== 200) throw new Error(`${url} answered ${status}`);
        }
      } finally {
        socket.destroy();
      }
    }),
  );
}

/** A POST, or a GET if there is no body. */
export function httpRequest(
  url: URL,
  path: string,
  headers: Record<string, string>,
  body: string | null,
): Buffer {
  const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: url.host, ...length, ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${body === null ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${head}\r\n${body ?? ''}`);
}

async function open(url: URL): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

/** Sends one request and reads its answer, whose length is in its head. */
function exchange(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let received = '';
    const read = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      socket.off('data', read);
      socket.off('error', reject);
      resolve(Number(received.slice(9, 12)));
    };
    socket.on('data', read);
    socket.once('error', reject);
    socket.write(request);
  });
}
