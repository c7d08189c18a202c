import { Card } from './parts.tsx';

/** What a page shows to a team without an application. */
export const NeedsApplication = ({ mayCreate }: { mayCreate: boolean }) => (
  <Card title="Create your first application">
    <p>
      An application is one app or game, with its own API key, time zone and currency. Your backend sends its
      events with that key.
    </p>
    {mayCreate ? (
      <a class="button" href="/settings/applications">
        Create an application
      </a>
    ) : (
      <p>Ask an admin of your team to create one.</p>
    )}
  </Card>
);
