import {
  COST_REPORTS,
  type CostAnswer,
  type CostOutcome,
  type CostReport,
  type CostRequest,
} from '#networks/costs';

type Answer = Partial<CostAnswer> | object | string;

/** An answer as a network sends it: JSON, or its text where the spelling matters. */
const toAnswer = (answer: Answer): CostAnswer => {
  if (typeof answer === 'string') return { status: 200, text: answer, retryAfterSeconds: null };
  if ('text' in answer || 'status' in answer) {
    return { status: 200, text: '', retryAfterSeconds: null, ...answer };
  }
  return { status: 200, text: JSON.stringify(answer), retryAfterSeconds: null };
};

export const PERIOD = { from: '2026-03-01', to: '2026-03-07' };

export const QUESTIONS = {
  meta: { settings: { account_id: '17' }, credentials: { access_token: 'secret-token' } },
  tiktok: { settings: { advertiser_id: '71' }, credentials: { access_token: 'secret-token' } },
  applovin: { settings: { account_name: 'Mine' }, credentials: { report_key: 'secret-key' } },
  google: {
    settings: { customer_id: '1234567890', login_customer_id: '9876543210' },
    credentials: {
      ...{ developer_token: 'dev', client_id: 'id', client_secret: 'hush', refresh_token: 'refresh' },
    },
  },
} as const;

/** An answer as whoever runs a report passes it on: its text in pieces, if the report reads it as it arrives. */
function passed({ reader }: CostRequest, answer: CostAnswer): CostAnswer {
  if (!reader || answer.status !== 200) return answer;
  const reading = reader();
  for (let at = 0; at < answer.text.length; at += 7) reading.add(answer.text.slice(at, at + 7));
  return { ...answer, text: '' };
}

/** Runs a report against recorded answers, in their order. All of them have to be asked for. */
export function readRecorded(
  network: keyof typeof QUESTIONS,
  answers: readonly Answer[],
  state: Record<string, string> | null = null,
  settings: Record<string, string> = {},
): { outcome: CostOutcome; requests: CostRequest[] } {
  const report: CostReport = COST_REPORTS[network];
  const { credentials, settings: own } = QUESTIONS[network];
  const run = report.read({ credentials, settings: { ...own, ...settings }, ...PERIOD, state });
  const requests: CostRequest[] = [];
  const left = [...answers];
  for (let step = run.next(); ; ) {
    if (step.done) {
      if (left.length > 0) throw new Error(`${left.length} answers were not asked for`);
      return { outcome: step.value, requests };
    }
    requests.push(step.value);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`nobody answers ${step.value.url}`);
    step = run.next(passed(step.value, toAnswer(answer)));
  }
}

export function rowsOf({ outcome }: { outcome: CostOutcome }) {
  if (!('rows' in outcome)) throw new Error('the report is not ready');
  return outcome.rows;
}
