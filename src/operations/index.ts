export { type Deployment, readDeployment } from './deployment.ts';
export { findApplicationProblems, findDeploymentProblems, isFilling } from './problems.ts';
export { resumeApplication } from './resume-counting.ts';
export { recordRun } from './schedule-runs.ts';
