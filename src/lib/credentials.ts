import { randomSecret } from './crypto.ts';

// A credential is a prefix, by which secret scanners recognize one that leaked, and 32 random bytes as base64url. The last of
// the 43 characters holds only four bits, so it is one of sixteen.

const API_KEY_PREFIX = 'appkey_';
const ACCESS_TOKEN_PREFIX = 'teamtoken_';
const SECRET = '[\\w-]{42}[AEIMQUYcgkosw048]';

export const newApiKey = () => API_KEY_PREFIX + randomSecret();
export const newAccessToken = () => ACCESS_TOKEN_PREFIX + randomSecret();

/** What every application API key looks like. Anything else cannot be one, whatever the database holds. */
export const API_KEY_FORM = new RegExp(`^${API_KEY_PREFIX}${SECRET}$`);

/** What every team access token looks like. */
export const ACCESS_TOKEN_FORM = new RegExp(`^${ACCESS_TOKEN_PREFIX}${SECRET}$`);
