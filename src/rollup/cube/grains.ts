import {
  keysTogether,
  MEASURES,
  ROLLUP_KEYS,
  type RollupTable,
  SEGMENT_DIMENSIONS,
  type SegmentDimension,
} from '#catalogue';

// The cube has each rollup in four grains, so that a report reads no more rows than it needs: with 200 creatives in 20 countries, `creative`
// has a twentieth of the rows of `both`, `segment` a hundredth, and `total` less than a thousandth.

/** All together; by segment (`SEGMENT_DIMENSIONS`) with all creatives together; by creative with all segments together; by both. */
export const GRAINS = ['total', 'segment', 'creative', 'both'] as const;
export type Grain = (typeof GRAINS)[number];

/** What parts and months belong to. */
export type CubePlace = { applicationId: string; rollup: RollupTable; grain: Grain };

/** Whether this release knows a rollup and a grain. What a newer one added stays as it is after a rollback. */
export const isKnownPlace = ({ rollup, grain }: { rollup: string; grain: Grain }): boolean =>
  Object.hasOwn(MEASURES, rollup) && GRAINS.includes(grain);

/** The grains of a rollup. Figures by hour have no segments. */
export const grainsOf = (rollup: RollupTable): readonly Grain[] =>
  rollup === 'rollup_hours' ? ['total', 'creative'] : GRAINS;

/** The columns of a row's key: all of the rollup's except the application. Where all creatives are together, it has their attribution. */
export const keyColumns = (table: RollupTable, grain: Grain): readonly string[] =>
  (grain === 'creative' || grain === 'both' ? ROLLUP_KEYS[table] : keysTogether(table)).slice(1);

/** The columns of a row's segment; none in the grains without segments. */
export const segmentColumns = (grain: Grain): readonly SegmentDimension[] =>
  grain === 'segment' || grain === 'both' ? SEGMENT_DIMENSIONS : [];
