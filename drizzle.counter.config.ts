import { defineConfig } from 'drizzle-kit';

// The tables of the counters, which live in Durable Objects: see src/counting/schema.ts.
export default defineConfig({
  dialect: 'sqlite',
  driver: 'durable-sqlite',
  schema: './src/counting/schema.ts',
  out: './migrations/counter',
});
