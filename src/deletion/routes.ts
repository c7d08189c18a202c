import { Hono } from 'hono';
import { apiCaller } from '#audit';
import { type AppEnv, jsonBody, limitBody, MAX_JSON_BODY_BYTES, requireTeamToken } from '#http';
import type { ApplicationDeleted } from './answers.ts';
import { DeletedApplication, deleteApplication } from './delete-application.ts';

export const deletionRoutes = new Hono<AppEnv>().delete(
  '/v1/applications/:id',
  limitBody(MAX_JSON_BODY_BYTES),
  requireTeamToken,
  ...jsonBody(DeletedApplication),
  async (c) => {
    const { name } = c.req.valid('json');
    const deleted = await deleteApplication(c.env, apiCaller(c), c.req.param('id'), name);
    return c.json<ApplicationDeleted>(deleted);
  },
);
