/** The most characters of an answer in JSON, some 20,000 tokens: assistants refuse or forget more. */
export const MAX_CHARACTERS = 60_000;

type ReportRow = Record<string, unknown>;
type Rows = { data: readonly ReportRow[]; total_rows?: number | undefined };
type ComparedRows = Rows & { before?: Rows | undefined };

const isOther = ({ is_other, is_unallocated }: ReportRow) => is_other === true || is_unallocated === true;

/** The first `count` rows, and the one that sums up the rest. */
const firstOf = <Own extends Rows>(rows: Own, count: number): Own => {
  const named = rows.data.filter((row) => !isOther(row));
  return named.length <= count
    ? rows
    : { ...rows, data: [...named.slice(0, count), ...rows.data.filter(isOther)] };
};

/**
 * An answer of limited length, with what it lacks in `cut`. `ways` is how to ask for less at a time: with which parameters, as the end of
 * a sentence.
 */
export function boundRows<Own extends ComparedRows>(answer: Own, ways: string): Own & { cut: string | null } {
  const named = answer.data.filter((row) => !isOther(row)).length;
  const summed = Math.max(0, (answer.total_rows ?? named) - named);
  const { length } = JSON.stringify(answer);
  const kept = length <= MAX_CHARACTERS ? named : Math.floor((named * MAX_CHARACTERS) / length);
  const { before } = answer;
  const shown = {
    ...firstOf(answer, kept),
    ...(before ? { before: firstOf(before, kept) } : {}),
  };
  const sentences = [
    summed > 0 &&
      `${summed} of ${answer.total_rows} rows have no row of their own: the last row, with is_other, sums them up.`,
    kept < named &&
      `The answer was too long: ${named - kept} of ${named} rows are left out, and are in no row of data.`,
  ].filter((sentence) => sentence !== false);
  return {
    ...shown,
    cut: sentences.length === 0 ? null : `${sentences.join(' ')} For the rest, ask ${ways}.`,
  };
}
