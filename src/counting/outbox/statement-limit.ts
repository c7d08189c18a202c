/**
 * The D1 statements that an invocation may still run: D1 allows 1,000, each statement of a batch counts, and some are left for upkeep.
 * Source: https://developers.cloudflare.com/d1/platform/limits/
 */
const PER_INVOCATION = 900;

/** More than a part of the outbox, or a compaction, takes. */
const PER_PIECE = 30;

/** Counts the D1 statements of one invocation. What no longer fits is left for the next one. */
export class StatementLimit {
  private left = PER_INVOCATION;

  /** Whether there are enough for another piece of work. */
  get hasRoom(): boolean {
    return this.left >= PER_PIECE;
  }

  /** Counts statements, one for each item, and returns the items. */
  spend<Statement>(statements: Statement[]): Statement[] {
    this.left -= statements.length;
    return statements;
  }
}
