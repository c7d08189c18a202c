export { createApplication, createTeam, getApplication, type NewApplication } from './applications.ts';
export { createAccessToken } from './keys.ts';
export { teamRoutes } from './routes.ts';
