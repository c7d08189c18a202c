export {
  type Amounts,
  columnsOf,
  isMoney,
  MEASURES,
  type Measure,
  ROLLUP_KEYS,
  type RollupTable,
} from './measures.ts';
export {
  MAX_SEGMENTS,
  OTHER_SEGMENT,
  OTHER_VALUE,
  type Segment,
  SegmentBook,
  segmentId,
} from './segments.ts';
