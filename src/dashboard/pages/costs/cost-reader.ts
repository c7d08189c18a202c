// What the page's script needs of the reader of cost files: `npm run build` bundles it for browsers.

export { readLargeFile, uploadByDay } from '#money/large-files';
export { storedQuery } from './stored-query.ts';
