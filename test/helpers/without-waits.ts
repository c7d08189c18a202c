import { withEdits } from '../newcomer/with-edits.ts';

/** What the Worker gathers for seconds before it writes: each request of a test would wait for it. */
export const withoutWaits = withEdits('without-waits', [
  { file: '/src/http/note-absent.ts', before: 'const GATHER_MS = 300;', after: 'const GATHER_MS = 10;' },
  { file: '/src/http/note-absent.ts', before: 'const BUSY_MS = 3_000;', after: 'const BUSY_MS = 10;' },
]);
