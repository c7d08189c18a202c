import type { Channel } from '#alerts';
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

/** The options of a select, in the order of `values`. */
export const optionsOf = <Value extends string>(
  values: readonly Value[],
  names: Readonly<Record<Value, string>>,
): (readonly [Value, string])[] => values.map((value) => [value, names[value]] as const);
