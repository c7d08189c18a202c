import { apiCaller } from '#audit';
import { settingsOf } from '#env';
import { AppError, type Endpoint, EXAMPLE, endpoint, missing } from '#http';
import { findApplication } from '#teams';
import { AttributionExplained, DeviceErased, TokenRevoked } from './answers.ts';
import { eraseDevice } from './erase-device.ts';
import { explainAttribution } from './explain-attribution.ts';
import { revokeToken } from './revoke-token.ts';
import { readToken } from './token.ts';

const shared = { credential: 'teamToken', tag: 'Devices', params: { token: EXAMPLE.token } } as const;

/** What a team can do with a device, which is identified by one of its tokens. */
export const deviceEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'get',
    path: '/v1/devices/{token}/attribution',
    summary: 'Explain the attribution of a device',
    answer: {
      description: 'How the device was attributed, and the clicks that were considered.',
      schema: AttributionExplained,
    },
    errors: { 404: 'Device not found, or erased.' },
    handle: (c, { params }) => explainAttribution(c.env, c.get('team').id, params.token),
  }),
  endpoint({
    ...shared,
    method: 'delete',
    path: '/v1/tokens/{token}',
    summary: 'Revoke a token',
    description:
      'Use it for a token that leaked. `/verify-token` refuses the token at once. Events sent with it are still accepted but no longer counted. The device keeps its history, and its other tokens keep working. Repeating the request is safe.',
    answer: { description: 'When the token was revoked.', schema: TokenRevoked },
    errors: missing('Token'),
    async handle(c, { params }) {
      const claims = await readToken(params.token, settingsOf(c.env).TOKEN_SECRET);
      if (!claims) throw new AppError('not_found', 'Token not found');
      const revokedAt = await revokeToken(c.env, apiCaller(c), claims);
      return { revoked: true as const, revoked_at: new Date(revokedAt).toISOString() };
    },
  }),
  endpoint({
    ...shared,
    method: 'delete',
    path: '/v1/devices/{token}',
    summary: 'Erase a device',
    description:
      'Deletes everything that identifies the device of this token: its description, tokens, click and raw events. No figure of any report changes: what was counted stays, without the identity of the device. Later events of the device are not counted. Exported raw event files are rewritten in the background; repeat the request until `files` is `done`.',
    answer: { description: 'What was deleted.', schema: DeviceErased },
    errors: missing('Device'),
    async handle(c, { params }) {
      const claims = await readToken(params.token, settingsOf(c.env).TOKEN_SECRET);
      const caller = apiCaller(c);
      // Another team's token gets the same answer as a forged one.
      if (!claims || !(await findApplication(caller.db, caller.team.id, claims.applicationId))) {
        throw new AppError('not_found', 'Device not found');
      }
      return { erased: true as const, ...(await eraseDevice(c.env, caller, claims)) };
    },
  }),
];
