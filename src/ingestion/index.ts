export { listRejections, noteRejection, pruneRejections, type RejectionSample } from './rejections.ts';
