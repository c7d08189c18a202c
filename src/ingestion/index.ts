export { ingestionRoutes } from './routes.ts';
export { readToken, signToken, type TokenClaims } from './token.ts';
