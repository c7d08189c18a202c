import { passwordReset } from './pages/access/reset-password.tsx';
import { shared } from './pages/access/shared.ts';
import { join, login, setup } from './pages/access/sign-in.tsx';
import { alerts } from './pages/alerts/alerts.tsx';
import { costs } from './pages/costs/costs.tsx';
import { creatives } from './pages/creatives/creatives.tsx';
import { connectors } from './pages/networks/connectors.tsx';
import { networks } from './pages/networks/networks.tsx';
import { eventDebugger } from './pages/operate/debugger.tsx';
import { getStarted } from './pages/operate/get-started.tsx';
import { notes } from './pages/operate/notes.tsx';
import { status } from './pages/operate/status.tsx';
import { styles } from './pages/operate/styles.tsx';
import { adRevenue } from './pages/reports/ad-revenue.tsx';
import { ads } from './pages/reports/ads.tsx';
import { breakdown } from './pages/reports/breakdown.tsx';
import { compare } from './pages/reports/compare.tsx';
import { doubts } from './pages/reports/doubts.tsx';
import { filterChoices } from './pages/reports/filter-values.tsx';
import { funnels } from './pages/reports/funnels.tsx';
import { home } from './pages/reports/home.tsx';
import { ltv } from './pages/reports/ltv.tsx';
import { retention } from './pages/reports/retention.tsx';
import { search } from './pages/reports/search.tsx';
import { views } from './pages/reports/views.tsx';
import { account, signingOut } from './pages/settings/account.tsx';
import { applications } from './pages/settings/applications.tsx';
import { audit } from './pages/settings/audit-page.tsx';
import { destinations } from './pages/settings/destinations.tsx';
import { members } from './pages/settings/members.tsx';
import { tokens } from './pages/settings/tokens.tsx';
import { skan } from './pages/skan/skan.tsx';
import type { PageRecord } from './shell/page-record.ts';

/** Every page, in the order of the navigation. */
export const PAGES: readonly PageRecord[] = [
  home,
  views,
  creatives,
  breakdown,
  costs,
  skan,
  doubts,
  compare,
  retention,
  ltv,
  funnels,
  ads,
  eventDebugger,
  networks,
  connectors,
  adRevenue,
  alerts,
  notes,
  status,
  applications,
  destinations,
  tokens,
  members,
  audit,
  account,
  signingOut,
  getStarted,
  search,
  filterChoices,
  login,
  setup,
  join,
  passwordReset,
  shared,
  styles,
];
