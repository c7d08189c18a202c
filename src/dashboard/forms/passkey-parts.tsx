import * as z from 'zod';
import { jsonField } from './json-field.ts';

// What the sign-in and the account page share.

/** What a browser answers to a challenge, as the script puts it into the form. */
export const credentialField = () =>
  jsonField(z.record(z.string(), z.unknown()), 'must be the answer of a passkey');

/** Shows the forms, which need it, and asks the browser for passkeys. */
export const PasskeyScript = () => <script src="/passkey.js" type="module"></script>;
