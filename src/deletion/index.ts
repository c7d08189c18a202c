export { continueDeletions, deleteApplication } from './delete-application.ts';
