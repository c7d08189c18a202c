import { defineConfig } from 'drizzle-kit';

// The tables of destinations, which live in Durable Objects: see src/destinations/object/schema.ts.
export default defineConfig({
  dialect: 'sqlite',
  driver: 'durable-sqlite',
  schema: './src/destinations/object/schema.ts',
  out: './migrations/destination',
});
