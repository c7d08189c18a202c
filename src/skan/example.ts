/** Published by Apple, with a genuine signature. */
export const SKAN_EXAMPLE = {
  version: '4.0',
  'ad-network-id': 'com.example',
  'source-identifier': '39',
  'app-id': 525463029,
  'transaction-id': '6aafb7a5-0170-41b5-bbe4-fe71dedf1e31',
  redownload: false,
  'source-domain': 'example.com',
  'fidelity-type': 1,
  'did-win': true,
  'coarse-conversion-value': 'high',
  'postback-sequence-index': 0,
  'attribution-signature':
    'MEUCIQD4rX6eh38qEhuUKHdap345UbmlzA7KEZ1bhWZuYM8MJwIgMnyiiZe6heabDkGwOaKBYrUXQhKtF3P/ERHqkR/XpuA=',
} as const;
