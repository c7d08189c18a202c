import { toDecimal } from '#lib/decimal';
import { unpacksBeyond } from './unpacked-size.ts';

// Excel workbooks. The library is loaded on first use: few files are one.

type SheetValue = string | number | boolean | Date | null;
export type SheetCells = readonly (readonly string[])[];

/** A workbook is a ZIP archive. */
export const isWorkbook = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

/** The workbooks before 2007, and those with a password. */
export const isOldWorkbook = (bytes: Uint8Array): boolean =>
  [0xd0, 0xcf, 0x11, 0xe0].every((byte, index) => bytes[index] === byte);

/** A cell as a file of text has it. A number gets no three decimals, which could be read as thousands. */
function toText(value: SheetValue): string {
  if (value === null) return '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString().slice(0, 10);
  if (typeof value !== 'number') return String(value);
  return toDecimal(value).replace(/(\.\d{3})$/, '$10');
}

/**
 * The sheets of a workbook as cells of text, the first one first. Null if it cannot be read; `too_large`, without unpacking it, if it unpacks to more
 * than `unpackedMb`.
 */
export async function readWorkbook(
  bytes: Uint8Array,
  { sheetRows, unpackedMb }: { sheetRows: number; unpackedMb: number },
): Promise<SheetCells[] | 'too_large' | null> {
  const { readXlsx } = await import('hucre/xlsx');
  try {
    if (await unpacksBeyond(bytes, unpackedMb * 1e6)) return 'too_large';
    const { sheets } = await readXlsx(bytes, { maxRows: sheetRows });
    return sheets.map(({ rows }) => rows.map((row) => Array.from(row, toText)));
  } catch {
    return null;
  }
}
