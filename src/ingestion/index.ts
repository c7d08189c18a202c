export { listRejections, noteRejection, pruneRejections, type RejectionSample } from './rejections.ts';
export { Batch, DeviceBatch, ingestionRoutes, VerifyToken } from './routes.ts';
