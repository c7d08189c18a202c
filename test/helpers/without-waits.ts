import { withEdits } from '../newcomer/with-edits.ts';

/**
 * What a deployment waits for by the clock, as tests need it. What the Worker gathers for seconds before it writes: each request of a test would
 * wait for it. And the seconds after which an answer does without a counter: on a busy machine, a test would fail by them.
 */
export const withoutWaits = withEdits('without-waits', [
  { file: '/src/http/note-absent.ts', before: 'const GATHER_MS = 300;', after: 'const GATHER_MS = 10;' },
  { file: '/src/http/note-absent.ts', before: 'const BUSY_MS = 3_000;', after: 'const BUSY_MS = 10;' },
  {
    file: '/src/counting/questions/application.ts',
    before: 'const SETTLE_MS = 1_500;',
    after: 'const SETTLE_MS = 30_000;',
  },
  {
    file: '/src/counting/questions/application.ts',
    before: 'const MAX_WAIT_MS = 2_000;',
    after: 'const MAX_WAIT_MS = 40_000;',
  },
  {
    file: '/src/counting/questions/application-health.ts',
    before: 'const MAX_WAIT_MS = 2_000;',
    after: 'const MAX_WAIT_MS = 40_000;',
  },
  {
    file: '/src/counting/runs/pace.ts',
    before: 'MAX_REPORT_WAIT_MS = 2_000;',
    after: 'MAX_REPORT_WAIT_MS = 30_000;',
  },
]);
