import { sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { applications } from '#db';

/**
 * The position of a row among those of its team, by `dueAt`. Ordered by it first, a run with a limit takes the teams in turn, so that one
 * team's backlog delays no other. The query must join `applications`.
 */
export const turnOfTeam = (dueAt: SQLiteColumn) =>
  sql`row_number() OVER (PARTITION BY ${applications.teamId} ORDER BY ${dueAt})`;
