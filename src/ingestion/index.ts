export { listRejections, noteRejection, pruneRejections, type RejectionSample } from './rejections.ts';
export { ingestionRoutes } from './routes.ts';
export { readToken, signToken, type TokenClaims } from './token.ts';
