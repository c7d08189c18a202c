import type { findLatestClick } from '#attribution';
import type { Creative } from '#creatives/answers';
import { ago, money } from '#lib/format';
import type { DashboardContext } from '../../shell/page-record.ts';
import { FoldedCard } from '../../shell/parts.tsx';
import { QrCode } from '../../shell/qr-code.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { TestCalls } from './test-calls.tsx';

type LatestClick = NonNullable<Awaited<ReturnType<typeof findLatestClick>>>;

/** The system of the test device, by that of the click. */
const SYSTEMS: Readonly<Record<string, { device_model: string; os_system: string }>> = {
  ios: { device_model: 'iPhone17,3', os_system: 'iOS 26.1' },
};
const PRICE = 4.99;

/** What a backend sends of a device that installed the app after the click: its id, as Google Play or the app passes it on. */
const installOf = (click: LatestClick, currency: string) => ({
  device: {
    ...SYSTEMS[click.osFamily],
    ...(click.osFamily === 'android' ? { install_referrer: `click_id=${click.id}` } : { click_id: click.id }),
  },
  event: {
    type: 'custom.purchase',
    payload: { item_id: 'test', value: PRICE, currency, status: 'completed' },
  },
});

type TestLinkProps = {
  c: DashboardContext;
  creative: Creative;
  view: View;
  click: LatestClick | null;
  apiKey: string | undefined;
  /** Whether the link has hardly brought a click, and may have to be tested. */
  isNew: boolean;
};

/** The link to copy, scan and try. A script reports when the click arrives and adds the next step; so does reloading the page. */
export const TestLink = ({ c, creative, view, click, apiKey, isNew }: TestLinkProps) => (
  <FoldedCard title="Test this link" id="test" open={isNew || apiKey !== undefined}>
    <div class="test-link">
      <QrCode text={creative.tracking_link} of="the tracking link" />
      <div>
        <p>
          Scan the code with a phone, or{' '}
          <a href={creative.tracking_link} target="_blank" rel="noopener noreferrer">
            open the link
          </a>{' '}
          here. A test click counts like any other.
        </p>
        <p
          role="status"
          data-click-watch={`/creatives/${creative.id}/clicks${viewQuery(view)}`}
          data-since={String(view.now)}
          {...(click ? { 'data-last': String(click.clickedAt) } : {})}
        >
          {click ? `Last click ${ago(click.clickedAt, view.now)}.` : 'No click in the last 30 minutes.'}
        </p>
      </div>
    </div>
    <div id="test-install">
      {click && <TestInstall c={c} creative={creative} view={view} click={click} apiKey={apiKey} />}
    </div>
    <script src="/test-link.js" type="module"></script>
  </FoldedCard>
);

/** How to send an install that this click led to, and its revenue. */
const TestInstall = ({
  c,
  creative,
  view,
  click,
  apiKey,
}: Omit<TestLinkProps, 'click' | 'isNew'> & { click: LatestClick }) => {
  const { currency } = view.application;
  return (
    <>
      <h3>Then test an install</h3>
      <p>
        An app that was installed after a click passes the click’s id to your backend. Paste this into a
        terminal to do the same: it installs the app on a test device, which then buys something for{' '}
        {money(PRICE, currency)}.
      </p>
      <TestCalls
        c={c}
        call={installOf(click, currency)}
        apiKey={apiKey}
        keyPath={`/creatives/${creative.id}/key${viewQuery(view)}`}
      />
      <p>
        Within seconds, the install and its revenue are on this page and on the{' '}
        <a href={`/${viewQuery(view)}`}>overview</a>. The <a href={`/debugger${viewQuery(view)}`}>debugger</a>{' '}
        shows why the device counts for this creative.
      </p>
    </>
  );
};
