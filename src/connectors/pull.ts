import * as z from 'zod';
import { optionalText, requiredText } from '#http';
import { publicUrlFault } from '#lib/input/public-url';
import { toNanos } from '#lib/money';
import { type PulledCost, PulledCosts } from '#money';
import {
  type CostReport,
  type CostRow,
  CostRows,
  MAX_COST_ROWS,
  ReportFault,
  refusal,
} from '#networks/costs';

const WHO = 'The address';

const url = () =>
  requiredText(2048).superRefine((text, ctx) => {
    const fault = publicUrlFault(text, { ports: '443' });
    if (fault) ctx.addIssue({ code: 'custom', message: fault });
  });

const named = (name: string | undefined) => (name === undefined ? null : { id: '', name });

const toRow = (row: PulledCost): CostRow => ({
  network: row.network ?? '',
  date: row.date,
  campaign: { id: '', name: row.campaign },
  adset: named(row.adset),
  ad: named(row.creative),
  ...{ country: row.country ?? '', os: row.os ?? '', currency: row.currency },
  nanos: toNanos(row.amount),
  impressions: row.impressions ?? null,
  clicks: row.clicks ?? null,
});

/** Costs in our own columns, from an address of the team's: CSV, or JSON with a list of rows. */
export const pull: CostReport = {
  label: 'your own address',
  settings: z.object({ url: url() }),
  credentials: z.object({ bearer_token: optionalText(2048).transform((token) => token ?? '') }),
  labels: { url: 'URL', bearer_token: 'Bearer token, if it needs one' },
  notes: [
    '`{from}` and `{to}` in the URL are replaced by the first and last day that is read, as YYYY-MM-DD. Rows of other days are ignored.',
    'CSV has the columns of an upload. JSON is a list of rows, or an object with such a list as `rows`: see `PUT /v1/costs`. Rows without a currency have that of the application.',
  ],
  unverified: [],
  sources: [],
  maxDaysBack: 1_000,
  *read({ settings, credentials, from, to }) {
    const address = (settings.url ?? '').replaceAll('{from}', from).replaceAll('{to}', to);
    const token = credentials.bearer_token ?? '';
    let rows = new CostRows(settings);
    let costs: PulledCosts | null = null;
    /** Of what is read and cannot be, the address is to blame. */
    const blaming = (read: () => void) => {
      try {
        read();
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        throw new ReportFault(`${WHO} answered what cannot be read: ${fault}`);
      }
    };
    const answer = yield {
      url: address,
      headers: {
        Accept: 'application/json, text/csv',
        ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
      },
      reader() {
        rows = new CostRows(settings);
        const reading = new PulledCosts({
          currency: settings.currency ?? '',
          maxRows: MAX_COST_ROWS,
          onRow: (row) => {
            if (row.date >= from && row.date <= to) rows.add(toRow(row));
          },
        });
        costs = reading;
        return { add: (text) => blaming(() => reading.add(text)) };
      },
    };
    if (answer.status !== 200) throw refusal(WHO, answer);
    blaming(() => costs?.end());
    return {
      rows: rows.rows,
      account: { currency: null, timezone: null },
      expiresAt: null,
    };
  },
};
