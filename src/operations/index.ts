export { resumeApplication } from './resume-counting.ts';
export { operationRoutes } from './routes.ts';
