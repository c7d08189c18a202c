import { addLargeHistory } from '../helpers/large-history.ts';
import type { Rig } from './rig.ts';
import { makeApplication } from './tenant.ts';
import { percentile } from './workload.ts';

/** Every creative has figures on every day: what a report by creative reads is as much as it can be. */
const FULL_HISTORY = { creatives: 2_000, days: 60, everyDays: 1 };
const QUICK_HISTORY = { ...FULL_HISTORY, days: 14 };

export type PagePace = { history: typeof FULL_HISTORY; rounds: number };
export const FULL_PAGES: PagePace = { history: FULL_HISTORY, rounds: 20 };
export const QUICK_PAGES: PagePace = { history: QUICK_HISTORY, rounds: 20 };

const CREATIVE = `crt_${'8'.padStart(32, '0')}`;

/** The pages with figures, each as its link in the navigation opens it, and the ways of asking that read most. */
const PAGES = {
  overview: '/',
  creatives: '/creatives',
  creatives_all_metrics: '/creatives?set=all',
  creatives_by_day_since_install: '/creatives?column=roas_d7&column=ltv_d7&column=retention_d1',
  creative: `/creatives/${CREATIVE}`,
  breakdown: '/breakdown',
  breakdown_by_creative: '/breakdown?by=creative',
  breakdown_by_day_and_campaign: '/breakdown?by=day&and=campaign',
  ads: '/ads',
  retention: '/retention',
  retention_by_creative: '/retention?group=creative',
  ltv: '/ltv',
  ltv_by_creative: '/ltv?group=creative',
  funnels: '/funnels',
  compare: '/compare',
  costs: '/costs',
  alerts: '/alerts',
  debugger: '/debugger',
  health: '/status',
} as const;

/** How often `step` is called. */
export const PAGE_STEPS = Object.keys(PAGES).length + 1;

const OWNER = { team: 'Pages', name: 'Owner', email: 'owner@bench.test', password: 'correct horse battery' };

/** Sets the service up as its first visitor does, and answers the session's cookie and the team. */
async function signUp(rig: Rig, url: URL): Promise<{ cookie: string; teamId: string }> {
  const answer = await fetch(new URL('/setup', url), {
    method: 'POST',
    headers: { Origin: url.origin },
    body: new URLSearchParams(OWNER),
    redirect: 'manual',
  });
  if (answer.status !== 303) throw new Error(`the set-up answered ${answer.status}: ${await answer.text()}`);
  const cookie = answer.headers.getSetCookie().map((one) => one.split(';')[0]);
  const teamId = await rig.db.prepare('SELECT id FROM teams WHERE name = ?').bind(OWNER.team).first('id');
  return { cookie: cookie.join('; '), teamId: String(teamId) };
}

/** Milliseconds (95 % of the loads take less) and KB of each page over a history of 2,000 creatives. */
export async function measurePages(rig: Rig, pace: PagePace, step: (what: string) => void) {
  const url = await rig.url('service');
  const { cookie, teamId } = await signUp(rig, url);
  const { applicationId } = await makeApplication(rig.db, { teamId, teamToken: '' }, 'Pages');
  step('pages: history');
  await addLargeHistory(rig.db, applicationId, pace.history, Date.now());
  const figures: Record<string, number> = {};
  for (const [name, path] of Object.entries(PAGES)) {
    step(`pages: ${name}`);
    const times: number[] = [];
    let bytes = 0;
    // The first one fills the caches that an isolate has for some minutes.
    for (let round = -1; round < pace.rounds; round++) {
      const startedAt = performance.now();
      const answer = await fetch(new URL(path, url), { headers: { Cookie: cookie }, redirect: 'manual' });
      const body = await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      if (round >= 0) times.push(performance.now() - startedAt);
      bytes = body.byteLength;
    }
    figures[`page_ms_${name}`] = percentile(times, 0.95);
    figures[`page_kb_${name}`] = bytes / 1024;
  }
  return figures;
}
