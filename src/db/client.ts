import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1';

export type Database = DrizzleD1Database<Record<string, never>>;

export function database(d1: D1Database | D1DatabaseSession): Database {
  return drizzle(d1 as D1Database);
}
