export { hashIdentifier, keepHashKey } from './hash-key.ts';
