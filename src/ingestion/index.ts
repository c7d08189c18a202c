export { listRejections, noteRejection, pruneRejections } from './rejections.ts';
