import * as z from 'zod';
import { currencyCodeOfAnyDay, invalidRequest, listOfUpTo, repeatable, requiredText } from '#http';
import { COST_FIELDS, type CostMap, parseCostMap, plainHeading } from './cost-files/layout.ts';

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

const MAX_HEADINGS = 200;
const Heading = requiredText(512);

/** Body of `PUT /v1/costs/columns`. */
export const CostColumns = z
  .object({
    application_id: requiredText(128),
    headings: listOfUpTo(MAX_HEADINGS, Heading, 'headings'),
    columns: z
      .partialRecord(z.enum(COST_FIELDS), Heading, {
        error: `must have a heading for each of some of ${COST_FIELDS.join(', ')}`,
      })
      .refine((map) => map.campaign && map.amount && (map.date || (map.start && map.end)), {
        error: 'must name the columns of campaign, amount and date, or of start and end in place of date',
      })
      .optional(),
  })
  .superRefine(({ headings, columns = {} }, ctx) => {
    const known = new Set(headings.map(plainHeading));
    for (const [field, heading] of Object.entries(columns)) {
      if (!known.has(plainHeading(heading)))
        ctx.addIssue({ code: 'custom', path: ['columns', field], message: 'must be one of headings' });
    }
  });

/** Reads texts such as `date=Päivä`. Null if there is none. Throws `invalid_request`. */
export function readCostMap(texts: readonly string[] | undefined): CostMap | null {
  const { map, faults } = parseCostMap(texts ?? []);
  if (faults.length > 0) throw invalidRequest(faults);
  return map;
}
