/** What `migrate` of `drizzle-orm/durable-sqlite` takes; made by `npm run migration:destination`. */
declare const migrations: {
  journal: { entries: { idx: number; when: number; tag: string; breakpoints: boolean }[] };
  migrations: Record<string, string>;
};
export default migrations;
