/** The secrets of the Worker that the tests run; the stores in test/upgrade/fixtures were written under them. */
export const TEST_SECRETS = {
  TOKEN_SECRET: 'a-token-secret-of-the-tests-only-000000',
  KEY_ENCRYPTION_SECRET: 'a-key-encryption-secret-of-the-tests-000',
  SESSION_SECRET: 'a-session-secret-of-the-tests-only-00000',
};
