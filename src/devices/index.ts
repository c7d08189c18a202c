export { acceptDevices, type DeviceResult } from './accept-devices.ts';
export type { VerifiedToken } from './answers.ts';
export { DeviceMetrics } from './device-metrics.ts';
export { ERASED, ErasedDevice, eraseDevice } from './erase-device.ts';
export { explainDeviceById } from './explain-attribution.ts';
export { fetchTokens } from './fetch-token.ts';
export { pruneTokens } from './prune-tokens.ts';
export { readToken, signToken, type TokenClaims, takesEventsUntil } from './token.ts';
export { tokenRequired, verifyToken } from './verify-token.ts';
