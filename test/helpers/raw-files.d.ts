declare module '*?raw' {
  const text: string;
  export default text;
}

/** Vite's, for reading many files at once. */
interface ImportMeta {
  glob<Content>(
    pattern: string,
    options: { query: string; import: string; eager: true },
  ): Record<string, Content>;
}
