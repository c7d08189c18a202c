import type { ApplicationRow } from '#teams';
import { Notice } from '../../shell/parts.tsx';

/** Without a store URL, a link leads people on that platform to the fallback, where clicks cannot lead to installs. */
export const StoreWarning = ({
  application,
  mayChange,
}: {
  application: ApplicationRow;
  mayChange: boolean;
}) => {
  const missing = [
    ...(application.androidStoreUrl === null ? ['Google Play'] : []),
    ...(application.iosStoreUrl === null ? ['the App Store'] : []),
  ];
  if (missing.length === 0) return null;
  return (
    <Notice kind={missing.length === 2 ? 'bad' : 'info'}>
      {application.name} has no URL for {missing.join(' or ')}, so tracking links take{' '}
      {missing.length === 2 ? 'nobody' : missing[0] === 'Google Play' ? 'nobody on Android' : 'nobody on iOS'}{' '}
      to a store.{' '}
      {mayChange ? (
        <a href={`/settings/applications/${application.id}#stores`}>Add the store URL</a>
      ) : (
        'Ask an admin to add it.'
      )}
    </Notice>
  );
};
