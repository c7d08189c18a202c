import { type Explanation, METHODS } from '#attribution';
import { Table } from '../../tables/table.tsx';

type AppleAttribution = NonNullable<Explanation['attribution']['apple_ads']>;

const OUTCOMES: Record<Exclude<AppleAttribution['outcome'], 'attributed'>, string> = {
  not_attributed: 'Apple did not attribute the install to an ad of Apple Ads.',
  refused: 'Apple refused the AdServices token, so it is unknown whether the install is from Apple Ads.',
  unanswered:
    'Apple had no answer for the AdServices token, so it is unknown whether the install is from Apple Ads.',
  not_asked: 'Apple was not asked about the AdServices token in time.',
};

const LABELS: Record<Exclude<keyof AppleAttribution, 'outcome'>, string> = {
  campaign_id: 'Campaign ID',
  ad_group_id: 'Ad group ID',
  ad_id: 'Ad ID',
  keyword_id: 'Keyword ID',
  org_id: 'Organization ID',
  country_or_region: 'Country or region',
  conversion_type: 'Conversion',
  claim_type: 'Claim',
  click_date: 'Clicked',
};

/** What Apple answered about a device, and what the device was attributed to before. `nameOf`: the name of a creative. */
export const AppleAnswer = ({
  attribution: { apple_ads: answer, replaced, creative_id },
  nameOf,
}: Pick<Explanation, 'attribution'> & { nameOf: (id: string | null | undefined) => string }) => {
  if (!answer) return null;
  if (answer.outcome !== 'attributed') return <p>{OUTCOMES[answer.outcome]}</p>;
  const { outcome: _, ...ad } = answer;
  const fields = Object.entries(ad) as [keyof typeof LABELS, string][];
  return (
    <>
      {!creative_id && <p>No creative, ad set or campaign has an ID of the ad.</p>}
      {replaced?.creative_id && (
        <p>
          Before Apple answered, it was attributed to creative <strong>{nameOf(replaced.creative_id)}</strong>{' '}
          ({METHODS[replaced.method]?.label ?? replaced.method}).
        </p>
      )}
      <Table
        caption="The ad, as Apple names it"
        rows={fields}
        empty=""
        columns={[
          { label: 'Field', cell: ([name]) => LABELS[name] },
          { label: 'Value', cell: ([, value]) => value },
        ]}
      />
    </>
  );
};
