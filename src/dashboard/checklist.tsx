import { and, eq, exists, gt, or, sql } from 'drizzle-orm';
import type { Child } from 'hono/jsx';
