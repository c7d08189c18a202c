/** Where the service is and what it asks for. */
export type Access = { base_url: string; service_name: string; api_key: string; team_token: string };

/** A failure that its text explains to the one who ran the command. */
export class Explained extends Error {}

/** The public HTTP API of a running service, with the credentials of the demo. */
export class Api {
  private readonly access: Access;

  constructor(access: Access) {
    this.access = access;
  }

  async ingest<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.call('POST', path, { [`${this.access.service_name}-api-key`]: this.access.api_key }, body);
  }

  async team<Answer>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.call(
      method,
      path,
      { [`${this.access.service_name}-Token`]: this.access.team_token, ...headers },
      body,
    );
  }

  /** Follows no redirect: answers where an Android phone would be sent, which holds the click's id. */
  async click(link: string): Promise<URLSearchParams> {
    const agent =
      'Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36';
    const answer = await this.request(link, { redirect: 'manual', headers: { 'User-Agent': agent } });
    const location = answer.headers.get('Location');
    if (!location)
      throw new Explained(`The tracking link ${link} answered ${answer.status} and leads nowhere.`);
    return new URLSearchParams(new URL(location).searchParams.get('referrer') ?? '');
  }

  private async call<Answer>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: unknown,
  ): Promise<Answer> {
    const answer = await this.request(this.access.base_url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Explained(`${method} ${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  }

  /** A server under load may refuse a moment: three tries. */
  private async request(url: string, init: RequestInit): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await fetch(url, init);
        if (attempt === 3 || (answer.status < 500 && answer.status !== 429)) return answer;
      } catch (error) {
        if (attempt === 3)
          throw new Explained(
            `${new URL(url).origin} does not answer: ${String(error)}. Is \`npm start\` running?`,
          );
      }
      await new Promise((resolve) => setTimeout(resolve, 300 * attempt));
    }
  }
}

/** Runs `work` over the items, `width` at a time, in order of their start. */
export async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
