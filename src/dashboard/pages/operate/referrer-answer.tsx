import type { Explanation } from '#attribution';
import { valueName } from '#catalogue';
import { exactTimeText } from '../../shell/dates.ts';
import { Name } from '../../shell/parts.tsx';
import { Table } from '../../tables/table.tsx';

type ExplainedAttribution = Explanation['attribution'];

/** The ad that Meta's install referrer named. */
const MetaAd = ({ ad, isKnown }: { ad: NonNullable<ExplainedAttribution['meta_ad']>; isKnown: boolean }) => (
  <>
    {!isKnown && <p>No creative, ad set or campaign has an ID of the ad.</p>}
    <Table
      caption="The ad, as Meta names it"
      rows={[
        ['Campaign', ad.campaign, ad.campaign_id],
        ['Ad set', ad.adset, ad.adset_id],
        ['Ad', ad.ad, ad.ad_id],
      ]}
      empty=""
      columns={[
        { label: 'Level', cell: ([level]) => level },
        { label: 'Name', cell: ([, name = '']) => <Name name={name} /> },
        { label: 'ID', cell: ([, , id]) => id },
      ]}
    />
  </>
);

/** What Google Play reported of the install. Its servers' times count where it has both, because a phone's clock may be wrong. */
const PlayReport = ({
  play: { network, click_ids, ...times },
  zone,
}: {
  play: NonNullable<ExplainedAttribution['play_referrer']>;
  zone: string;
}) => {
  const clicked = times.referrer_click_timestamp_server_seconds ?? times.referrer_click_timestamp_seconds;
  const began = times.install_begin_timestamp_server_seconds ?? times.install_begin_timestamp_seconds;
  const names = Object.keys(click_ids);
  return (
    <>
      {names.length > 0 && (
        <p>
          The install referrer has a click ID of{' '}
          {network ? valueName('network', network) : 'an unknown network'} ({names.join(', ')}).
        </p>
      )}
      {clicked !== undefined && <p>Google Play saw a click {exactTimeText(clicked * 1000, zone)}.</p>}
      {began !== undefined && <p>Google Play began the installation {exactTimeText(began * 1000, zone)}.</p>}
    </>
  );
};

/** What the install referrer told of a device, with times in `zone`. */
export const ReferrerAnswer = ({
  attribution: { meta_ad: ad, play_referrer: play, creative_id },
  zone,
}: Pick<Explanation, 'attribution'> & { zone: string }) => (
  <>
    {ad && <MetaAd ad={ad} isKnown={Boolean(creative_id)} />}
    {play && <PlayReport play={play} zone={zone} />}
  </>
);
