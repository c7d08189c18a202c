import { EXAMPLE, inPath, missing, type Operation } from '#http/operations';
import { AttributionExplained, DeviceErased, TokenRevoked } from './answers.ts';

const shared = { credential: 'teamToken', tag: 'Devices' } as const;

export const operations: Operation[] = [
  {
    ...shared,
    method: 'get',
    path: '/v1/devices/{token}/attribution',
    summary: 'Explain the attribution of a device',
    parameters: inPath('token', EXAMPLE.token),
    answer: {
      status: 200,
      description: 'How the device was attributed, and the clicks that were considered.',
      schema: AttributionExplained,
    },
    errors: { 404: 'Device not found, or erased.' },
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/tokens/{token}',
    summary: 'Revoke a token',
    description:
      'Use it for a token that leaked. `/verify-token` refuses the token at once. Events sent with it are still accepted but no longer counted. The device keeps its history, and its other tokens keep working. Repeating the request is safe.',
    parameters: inPath('token', EXAMPLE.token),
    answer: { status: 200, description: 'When the token was revoked.', schema: TokenRevoked },
    errors: missing('Token'),
  },
  {
    ...shared,
    method: 'delete',
    path: '/v1/devices/{token}',
    summary: 'Erase a device',
    description:
      'Deletes everything that identifies the device of this token: its description, tokens, click and raw events. No figure of any report changes: what was counted stays, without the identity of the device. Later events of the device are not counted. Exported raw event files are rewritten in the background; repeat the request until `files` is `done`.',
    parameters: inPath('token', EXAMPLE.token),
    answer: { status: 200, description: 'What was deleted.', schema: DeviceErased },
    errors: missing('Device'),
  },
];
