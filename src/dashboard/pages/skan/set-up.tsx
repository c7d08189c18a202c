import type { ApplicationRow } from '#teams';
import { Copyable } from '../../shell/copyable.tsx';
import { FoldedCard } from '../../shell/parts.tsx';

/** The keys of an app's Info.plist, at its top level. Source: developer.apple.com/documentation/bundleresources/information-property-list */
const infoPlist = (domain: string) => `<key>NSAdvertisingAttributionReportEndpoint</key>
<string>https://${domain}</string>
<key>AttributionCopyEndpoint</key>
<string>https://${domain}</string>
<key>EligibleForAdAttributionKitReengagementPostbackCopies</key>
<true/>`;

/** What brings postbacks here: the keys of the app, with the deployment's `domain` for them; empty if it is unknown. */
export const SetUp = ({
  domain,
  host,
  application,
  mayAssign,
  open,
}: {
  domain: string;
  host: string;
  application: ApplicationRow;
  /** Whether the person may be an owner of the deployment. */
  mayAssign: boolean;
  open: boolean;
}) => (
  <FoldedCard title="Set up your app" id="set-up" open={open}>
    {application.appStoreId === null && (
      <p>
        <a href={`/settings/applications/${application.id}`}>Give the application its App Store URL</a>: the
        id in it decides which application a postback belongs to.
      </p>
    )}
    <p>Add these keys to the app’s Info.plist, at the top level:</p>
    <Copyable text={infoPlist(domain || 'example.com')} label="keys of Info.plist" lines />
    <p class="hint">
      {domain === ''
        ? `Replace example.com by your own domain. Apple posts to a registered domain, and nothing to this machine or workers.dev. Here it is unknown: \`npm run org\` sets the variable POSTBACK_DOMAIN of a deployment with a domain.`
        : domain === host
          ? `Apple posts to ${domain}.`
          : `Apple leaves out subdomains and posts to ${domain}, not to ${host}. The Worker has to answer https://${domain}/.well-known/skadnetwork/* and https://${domain}/.well-known/appattribution/* there.`}{' '}
      The first key is for SKAdNetwork, the second (iOS 17.4) for AdAttributionKit, the third (iOS 18) for its
      re-engagements.
    </p>
    {mayAssign && (
      <p>
        If several teams share this deployment, an owner of its first team{' '}
        <a href="/skan/apps">decides which application has which app</a>.
      </p>
    )}
  </FoldedCard>
);
