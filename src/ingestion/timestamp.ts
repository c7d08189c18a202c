import { requiredText } from '#http';
import { parseTimestamp } from '#lib/time';

const EARLIEST = Date.UTC(2010, 0, 1);

/** A `created_at`: UTC, `YYYY-MM-DD HH:MM:SS` or ISO 8601 with `Z`; parsed to epoch milliseconds. */
export const timestamp = () =>
  requiredText(128)
    .transform((text, ctx) => {
      const at = parseTimestamp(text);
      if (at !== null) return at;
      ctx.issues.push({
        code: 'custom',
        message: 'must be a real time, as YYYY-MM-DD HH:MM:SS (UTC) or ISO 8601 with Z',
        input: text,
      });
      return Number.NaN;
    })
    .refine((at) => !(at < EARLIEST), 'must not be before 2010-01-01');
