import { inject, it } from 'vitest';

/** The slow tier runs the files that import this again, with all that the fast tier leaves out. */
export const isThorough = inject('cases') === 'many';

/** A test of seconds: the slow tier runs it. */
export const slowIt = it.runIf(isThorough);
