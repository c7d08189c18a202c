// What the page's script needs of the reader of cost files: `npm run build` bundles it for browsers.

export { readLargeFile, uploadByDay } from '../../../money/cost-files/upload-by-day.ts';
export { storedQuery } from './stored-query.ts';
