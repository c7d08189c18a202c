export { ingestionFailure } from './failure.ts';
export { listRejections, noteRejection, pruneRejections } from './rejections.ts';
