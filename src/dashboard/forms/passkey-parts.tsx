import * as z from 'zod';

// What the sign-in and the account page share.

const MAX_CREDENTIAL_CHARACTERS = 20_000;

/** What a browser answers to a challenge, as the script puts it into the form. */
export const credentialField = () =>
  z
    .string('is required')
    .max(MAX_CREDENTIAL_CHARACTERS)
    .transform((text, ctx): Record<string, unknown> => {
      try {
        return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
      } catch {
        ctx.addIssue({ code: 'custom', message: 'must be the answer of a passkey' });
        return z.NEVER;
      }
    });

/** Shows the forms, which need it, and asks the browser for passkeys. */
export const PasskeyScript = () => <script src="/passkey.js" type="module"></script>;
