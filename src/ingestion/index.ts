export { listRejections, noteRejection, pruneRejections, type RejectionSample } from './rejections.ts';
export { ingestionRoutes } from './routes.ts';
