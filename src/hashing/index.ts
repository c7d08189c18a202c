export { hashKeyOf, keepHashKey } from './hash-key.ts';
