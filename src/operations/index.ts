export { askDestination } from './destination-health.ts';
export { type InspectedApplication, type Inspection, inspect } from './inspect.ts';
export { findApplicationProblems, findDeploymentProblems, isFilling } from './problems.ts';
export { resumeApplication } from './resume-counting.ts';
export { runbookOf } from './runbooks.ts';
export { type CronSchedule, recordRun } from './schedule-runs.ts';
export { watchStores } from './watch-stores.ts';
