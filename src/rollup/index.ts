export { appendStatement } from './append.ts';
export { consumeDeadLetters, consumeEvents } from './consume.ts';
export { EventMessage, LoggedEvent } from './event.ts';
export { foldLog, unpack } from './fold.ts';
