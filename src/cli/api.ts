import { askService, type ServiceAnswer } from './ask-service.ts';
import { CommandError } from './command.ts';

/** The URL of a service and its credentials. */
export type ServiceAccess = { base_url: string; service_name: string; api_key: string; team_token: string };

const ANDROID =
  'Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';

/** The user agent of a browser on a phone, with its model where browsers tell it. */
export const agentOf = (model: string, os: string): string => {
  const version = /[\d.]+/.exec(os)?.[0] ?? '';
  return os.startsWith('iOS')
    ? `Mozilla/5.0 (iPhone; CPU iPhone OS ${version.replaceAll('.', '_')} like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148`
    : `Mozilla/5.0 (Linux; Android ${version}; ${model}) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36`;
};

/** The public HTTP API of a running service, with the credentials of the demo. */
export class Api {
  private readonly access: ServiceAccess;

  constructor(access: ServiceAccess) {
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
    const own = { [`${this.access.service_name}-Token`]: this.access.team_token };
    return this.call(method, path, { ...own, ...headers }, body);
  }

  /** Posts what needs no credential of the service, or has it in its path. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<void> {
    await this.call('POST', path, headers, body);
  }

  /** Posts what the service must refuse. */
  async postRefused(path: string, body: unknown): Promise<void> {
    const { status } = await this.send('POST', path, {}, body);
    if (status < 400 || status >= 500) {
      throw new CommandError(`POST ${path} answered ${status} to a forged request.`);
    }
  }

  /** Tells of an impression, as mediation does. */
  async tellImpression(secret: string, query: Record<string, string>): Promise<void> {
    await this.call('GET', `/impression/${secret}?${new URLSearchParams(query)}`, {}, undefined);
  }

  /**
   * Opens a tracking link like a phone and follows no redirect. Returns the referrer that Google Play would pass to the app, with the
   * click's id; null for an iPhone, whose store passes nothing on.
   */
  async click(link: string, isIphone: boolean): Promise<string | null> {
    const headers = { 'User-Agent': isIphone ? IPHONE : ANDROID };
    const answered = await this.request(link, { redirect: 'manual', headers });
    if (isIphone && answered.ok) return null;
    const location = answered.headers.get('Location');
    if (!location)
      throw new CommandError(`The tracking link ${link} answered ${answered.status} without a destination.`);
    return new URL(location).searchParams.get('referrer');
  }

  /** Reports a click or impression as a network's server does. Returns its id. */
  async report(link: string, parameters: Record<string, string>): Promise<string> {
    const query = new URLSearchParams(parameters);
    const { ok, status, text } = await this.request(`${link}&${query}`, {});
    if (!ok) throw new CommandError(`The link for servers answered ${status}: ${text.slice(0, 500)}`);
    return (JSON.parse(text) as { id: string }).id;
  }

  private async call<Answer>(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: unknown,
  ): Promise<Answer> {
    const { ok, status, text } = await this.send(method, path, headers, body);
    if (!ok) throw new CommandError(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  }

  private send(method: string, path: string, headers: Record<string, string>, body: unknown) {
    return this.request(this.access.base_url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  private async request(url: string, init: RequestInit): Promise<ServiceAnswer> {
    const answered = await askService(url, init, { attempts: 3, waitMs: (attempt) => 300 * attempt });
    if (answered.status > 0) return answered;
    throw new CommandError(
      `${new URL(url).origin} does not respond: ${answered.text}. Is \`npm start\` running?`,
    );
  }
}
