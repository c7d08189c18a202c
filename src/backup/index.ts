export type { RestoreProgress } from './restore.ts';
export { writeSnapshot } from './snapshot.ts';
