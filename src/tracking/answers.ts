import * as z from 'zod';
import { EXAMPLE } from '#http/operations';

export const shared = {
  tag: 'Tracking',
  path: '/t/{token}',
  credential: null,
  parameters: { path: z.object({ token: z.string().meta({ example: EXAMPLE.link }) }) },
} as const;

export const html = { 'text/html': { schema: { type: 'string' } } } as const;
