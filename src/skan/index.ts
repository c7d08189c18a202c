export { keepPostbacks } from './receive.ts';
