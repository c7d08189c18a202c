import { settingsOf } from '#env';
import { Copyable } from '../../shell/copyable.tsx';
import { isAdmin } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action } from '../../shell/parts.tsx';

/** What the two calls say, beyond what every device and event has. */
export type TestCall = { device?: Record<string, string>; event: { type: string; payload: object } };

/** Two calls that a shell can run unchanged: one fetches a token for a device, the other sends an event of it. */
function callsOf(origin: string, serviceName: string, apiKey: string, now: number, call: TestCall): string {
  const at = new Date(now).toISOString();
  const device = {
    device_name: 'Test device',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'UTC',
  };
  const metrics = { type: 'device-metrics', created_at: at, data: { ...device, ...call.device } };
  const { type, payload } = call.event;
  const event = { type, created_at: at.slice(0, 19).replace('T', ' '), creativeToken: "'$TOKEN'", payload };
  const headers = `-H '${serviceName}-api-key: ${apiKey}' -H 'Content-Type: application/json'`;
  return [
    `TOKEN=$(curl -s ${origin}/fetch-token \\`,
    `  ${headers} \\`,
    `  -d '${JSON.stringify(metrics)}' \\`,
    `  | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    '',
    `curl ${origin}/webhook \\`,
    `  ${headers} \\`,
    `  -d '${JSON.stringify(event)}'`,
  ].join('\n');
}

/**
 * The calls, to paste into a terminal. They contain the API key only if an admin asked for it by a POST to `keyPath`: a page that any link can
 * open must neither show a secret nor fill the audit log.
 */
export const TestCalls = ({
  c,
  call,
  apiKey,
  keyPath,
}: {
  c: DashboardContext;
  call: TestCall;
  apiKey: string | undefined;
  keyPath: string;
}) => {
  const mayShow = isAdmin(c);
  const shown = apiKey ?? (mayShow ? '<API key>' : '<API key: ask an admin>');
  const { SERVICE_NAME } = settingsOf(c.env);
  return (
    <>
      <Copyable
        text={callsOf(new URL(c.req.url).origin, SERVICE_NAME, shown, Date.now(), call)}
        label="the two calls"
        lines
      />
      <p class="muted">
        The API key is for your servers only, never inside the app. Showing it is recorded in the audit log.
      </p>
      {mayShow && apiKey === undefined && <Action to={keyPath} label="Show with the API key" />}
    </>
  );
};
