export type { SkanFigures } from './answers.ts';
export { assignClaim, listAppStoreClaims, requireDeploymentOwner } from './claims.ts';
export { SKAN_EXAMPLE } from './example.ts';
export { SKAN_GROUPS, type SkanGroup } from './groups.ts';
export { keepPostbacks, listPostbacks } from './receive.ts';
export { answerSkanCsv, reportSkan, SkanQuery } from './report.ts';
export {
  type ConversionMeaning,
  NewConversionSchema,
  readSchema,
  type SchemaVersion,
  saveSchema,
} from './schema.ts';
