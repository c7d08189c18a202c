import { randomSecret } from './crypto.ts';

// A credential is a prefix, by which secret scanners recognize a leaked one, and 32 random bytes in base64url. The last of the 43
// characters encodes only four bits, so it is one of sixteen.

const API_KEY_PREFIX = 'appkey_';
const ACCESS_TOKEN_PREFIX = 'teamtoken_';
const INTAKE_SECRET_PREFIX = 'intake_';
const SECRET = '[\\w-]{42}[AEIMQUYcgkosw048]';

export const newApiKey = () => API_KEY_PREFIX + randomSecret();
export const newAccessToken = () => ACCESS_TOKEN_PREFIX + randomSecret();
export const newIntakeSecret = () => INTAKE_SECRET_PREFIX + randomSecret();

/** The format of an application API key. Anything else is rejected without a database lookup. */
export const API_KEY_FORM = new RegExp(`^${API_KEY_PREFIX}${SECRET}$`);

/** The format of a team access token. */
export const ACCESS_TOKEN_FORM = new RegExp(`^${ACCESS_TOKEN_PREFIX}${SECRET}$`);

/** The format of an intake secret. */
export const INTAKE_SECRET_FORM = new RegExp(`^${INTAKE_SECRET_PREFIX}${SECRET}$`);

/** The format of the secret of a share link. */
export const SHARE_SECRET_FORM = new RegExp(`^${SECRET}$`);
