export { resumeApplication } from './resume-counting.ts';
