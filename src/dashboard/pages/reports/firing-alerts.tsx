import { alertText, listAlerts } from '#alerts';
import { database } from '#db';
import { ago } from '#lib/format';
import { Notice } from '../../shell/parts.tsx';
import { type View, viewQuery } from '../../shell/view.ts';

/** The application's firing alerts; nothing if there are none. */
export async function FiringAlerts(db: D1Database, view: View) {
  const alerts = await listAlerts(database(db), view.application.id);
  const firing = alerts.flatMap((alert) =>
    alert.firingSince === null ? [] : [{ alert, since: alert.firingSince }],
  );
  if (firing.length === 0) return null;
  return (
    <Notice kind="bad">
      <ul class="firing">
        {firing.map(({ alert, since }) => (
          <li>
            {`${alertText(alert, view.application.currency)} (started ${ago(since, view.now)})`}
            {alert.kind === 'no_events' && (
              <>
                {': '}
                <a href={`/status${viewQuery(view)}`}>see Health</a>
              </>
            )}
          </li>
        ))}
      </ul>
      <a href={`/alerts${viewQuery(view)}`}>All alerts</a>
    </Notice>
  );
}
