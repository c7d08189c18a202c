import { invalidRequest, toFaults } from '#http';
import type { Fault } from '#lib/input/fields';
import { present } from '#lib/input/present';
import { receiverFault } from '#lib/input/private-name';
import type { DestinationKind } from '#networks/outbound';

type SetupChanges = {
  url?: string | undefined;
  template?: Record<string, unknown> | undefined;
  settings?: Record<string, unknown> | undefined;
  credentials?: Record<string, unknown> | undefined;
};

type SettingTexts = Record<string, string>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Settings are text: headers may be sent as an object, and a JSON body as it is. */
const textsOf = (sent: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      if (!isObject(value)) return [name, value];
      const lines = Object.entries(value).map(([header, text]) => `${header}: ${text}`);
      return [name, name === 'headers' ? lines.join('\n') : JSON.stringify(value)];
    }),
  );

/**
 * What a destination has after changes: settings that are not sent stay, credentials are replaced as a whole; they are undefined if none are
 * sent. Throws `invalid_request` for what its kind refuses, and for a URL to which nothing must be sent.
 */
export async function readChanges(
  kind: DestinationKind,
  { url, template = {}, settings = {}, credentials }: SetupChanges,
  { settings: before, allowsLocal }: { settings: SettingTexts; allowsLocal: boolean },
): Promise<{ settings: SettingTexts; credentials?: SettingTexts }> {
  const wanted = {
    ...before,
    ...textsOf(settings),
    ...textsOf(template),
    ...(url === undefined ? {} : { url }),
  };
  const faults: Fault[] = [];
  const read = (place: 'settings' | 'credentials', sent: Record<string, unknown>): SettingTexts => {
    const { data, error } = kind[place].safeParse(sent);
    if (error) {
      faults.push(
        ...toFaults(error).map(({ path, message }) => ({ path: pathOf(place, path, template), message })),
      );
    }
    return present(data ?? {});
  };
  const known = read('settings', wanted);
  const given = credentials && read('credentials', credentials);
  const fault =
    known.url === undefined ? null : await receiverFault(known.url, { ports: '443', allowsLocal });
  if (fault) faults.push({ path: 'url', message: fault });
  if (faults.length > 0) throw invalidRequest(faults);
  return { settings: known, ...(given ? { credentials: given } : {}) };
}

/** The field of the body that a setting may have been sent as. */
function pathOf(place: string, path: string, template: Record<string, unknown>): string {
  if (place === 'settings' && path === 'url') return 'url';
  return Object.hasOwn(template, path) ? `template.${path}` : `${place}.${path}`;
}
