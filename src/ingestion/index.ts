export { ingestionFailure } from './failure.ts';
export {
  type AbsentField,
  listAbsentFields,
  listRejections,
  noteRejection,
  pruneRejections,
} from './rejections.ts';
