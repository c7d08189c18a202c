export { continueDeletions, DeletedApplication, deleteApplication } from './delete-application.ts';
