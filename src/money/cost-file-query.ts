import * as z from 'zod';
import { currencyCodeOfAnyDay, type Fault, invalidRequest, repeatable, requiredText } from '#http';
import { COST_FIELDS, type CostMap } from './cost-files/layout.ts';

/** Query of `PUT /v1/costs/file`. */
export const CostFileQuery = z.object({
  application_id: requiredText(128),
  /** The application's currency by default. */
  currency: currencyCodeOfAnyDay().optional(),
  spread: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
  map: repeatable(requiredText(512)).meta({
    description:
      'Which column is which, for headings that are not known: `date=Päivä`, repeated for each field. `campaign` and `amount` are required, and `date`, or `start` and `end`.',
  }),
});

const FIELDS: ReadonlySet<string> = new Set(COST_FIELDS);
/** What people may call the day as well. */
const ALIASES: Readonly<Record<string, string>> = {
  day: 'date',
  spend: 'amount',
  cost: 'amount',
  ad: 'creative',
};

/** Reads texts such as `date=Päivä`. Null if there is none. Throws `invalid_request`. */
export function readCostMap(texts: readonly string[] | undefined): CostMap | null {
  if (texts === undefined || texts.length === 0) return null;
  const faults: Fault[] = [];
  const map: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const field = ALIASES[name] ?? name;
    const heading = text.slice(at + 1).trim();
    if (at < 0 || !FIELDS.has(field) || heading === '') {
      faults.push({
        path: 'map',
        message: `must be a field and a heading, such as date=Päivä, not "${text}"`,
      });
    } else map[field] = heading;
  }
  if (faults.length > 0) throw invalidRequest(faults);
  return map;
}
