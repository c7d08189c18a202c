export { DeviceMetrics } from './device-metrics.ts';
export { pruneTokens } from './prune-tokens.ts';
export { listRejections, noteRejection, pruneRejections, type RejectionSample } from './rejections.ts';
export { Batch, DeviceBatch, ingestionRoutes, VerifyToken } from './routes.ts';
export { readToken, signToken, type TokenClaims } from './token.ts';
export { tokenRoutes } from './token-routes.ts';
