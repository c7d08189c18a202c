import type { Channel } from '#alerts';
import type { DoubtAction } from '#catalogue';
import type { StoredDelivery } from '#destinations';
import { capitalized } from '#lib/format';
import type { Role } from '#members';

// What the dashboard calls the values of forms and APIs. Each has its words in one place.

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  viewer: 'Viewer',
};

export const CHANNEL_NAMES: Readonly<Record<Channel['kind'], string>> = {
  webhook: 'Webhook',
  mail: 'Email',
};

export const DIGEST_NAMES: Readonly<Record<Channel['digest'], string>> = {
  never: 'None',
  daily: 'Daily',
  weekly: 'Weekly',
};

export const DOUBT_ACTION_NAMES: Readonly<Record<DoubtAction, string>> = {
  flag: 'Flag',
  exclude: 'Count as organic',
  allow: 'Do not check',
};

export const DELIVERY_STATUS_NAMES: Readonly<Record<StoredDelivery['status'], string>> = {
  delivered: 'Delivered',
  failed: 'Failed',
  pending: 'Waiting',
  skipped: 'Skipped',
};

/** The name of an event that a destination wants: `Install`, `Custom: level_up`. */
export const outboundName = (type: string): string => capitalized(type).replace(':', ': ');

/** The options of a select, in the order of `values`. */
export const optionsOf = <Value extends string>(
  values: readonly Value[],
  names: Readonly<Record<Value, string>>,
): (readonly [Value, string])[] => values.map((value) => [value, names[value]] as const);

/** A note on a network, which is in Markdown, for people who do not read that. */
export const plainText = (note: string): string =>
  note.replaceAll('`', '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
