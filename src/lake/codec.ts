import type { FileMetaData } from 'hyparquet';
import type { ParquetCell } from './columns.ts';

/** Makes hyparquet read decimals as the unscaled integers that are stored; it would convert them to inexact numbers. */
export function readDecimalsUnscaled(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (element.converted_type === 'DECIMAL') delete element.converted_type;
  }
}

/**
 * Converts the unscaled integers of a decimal column from a file's number of decimal places to another. Fewer places round to the nearest,
 * ties away from zero: only a release that is older than the file needs that.
 */
export function rescale(
  from: number | undefined,
  to: number | undefined,
): (cell: ParquetCell) => ParquetCell {
  if (from === undefined || to === undefined || from === to) return (cell) => cell;
  const factor = 10n ** BigInt(Math.abs(to - from));
  if (to > from) return (cell) => (typeof cell === 'bigint' ? cell * factor : cell);
  const half = factor / 2n;
  return (cell) => (typeof cell === 'bigint' ? (cell + (cell < 0n ? -half : half)) / factor : cell);
}
