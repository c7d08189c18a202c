import { sql } from 'drizzle-orm';
import { tokens } from '#db';

/** A device to be credited with a click or an impression. */
export type Credit = {
  clickId: string;
  creativeId: string;
  deviceId: string;
  /** The token that is created together with the credit. */
  tokenId: string;
  /** Identifies who may claim the click again: see `Installation`. */
  claim: string;
  guessed: boolean;
};

/** A credit whose device was not created. `replacementDeviceId` is the device that exists instead and is credited with the same click. */
export type UndoneCredit = Credit & { replacementDeviceId: string | null };

/** Whether the token of a credit exists. The credit is a row of `json_each`. */
export const hasToken = sql`EXISTS (SELECT 1 FROM ${tokens}
  WHERE ${tokens.deviceId} = value ->> 'deviceId' AND ${tokens.id} = value ->> 'tokenId')`;
