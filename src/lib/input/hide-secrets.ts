/** A text without some secrets, as they are and as they stand in a URL. */
export const hideSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((left, secret) => left.replaceAll(secret, '***'), text);
