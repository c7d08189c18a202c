import { env } from 'cloudflare:workers';

/** Keeps consumers from folding for the next ten seconds, so that a test decides when its events are counted. */
export const holdFold = () => env.DB.prepare('UPDATE fold_cursor SET folded_at = ?').bind(Date.now()).run();
