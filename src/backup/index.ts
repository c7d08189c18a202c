export type { Progress } from './restore.ts';
export { writeSnapshot } from './snapshot.ts';
