import type * as z from 'zod';
import { toFaults } from '#http';
import { parseCostFile } from './cost-files/read.ts';
import { CostEntry } from './costs.ts';

/** Rows in our own columns. */
export type PulledCosts = z.infer<typeof CostEntry>[];

type Pulled = { rows: PulledCosts; fault: null } | { rows: null; fault: string };

/** The list in JSON, whatever stands around it; null if the text is not JSON. */
function listOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    const json: unknown = JSON.parse(text);
    return Array.isArray(json) ? json : ((json as { rows?: unknown }).rows ?? {});
  } catch {
    return null;
  }
}

/** Reads costs in CSV or JSON, all or none of them. `currency` is for rows that name none. The fault names the line or the row. */
export function readPulledCosts(text: string, currency: string): Pulled {
  const list = listOf(text);
  const refuse = (fault: string): Pulled => ({ rows: null, fault });
  if (list !== null && !Array.isArray(list)) return refuse('JSON without a list of rows');
  const parsed = list === null ? parseCostFile(text, { currency, spread: false }) : null;
  const [broken] = parsed?.faults ?? [];
  if (broken) return refuse(`${broken.path} ${broken.message}`);
  const rows: PulledCosts = [];
  for (const [index, row] of (parsed?.rows ?? list ?? []).entries()) {
    const read = CostEntry.safeParse(typeof row === 'object' && row !== null ? { currency, ...row } : row);
    if (!read.success) {
      const [fault] = toFaults(read.error);
      const place = parsed ? `line ${parsed.lines[index]}` : `row ${index + 1}`;
      return refuse(`${place}: ${fault?.path ?? ''} ${fault?.message ?? ''}`);
    }
    rows.push(read.data);
  }
  return { rows, fault: null };
}
