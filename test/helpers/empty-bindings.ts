import { loadParquet } from '../../src/lib/encoding/parquet.ts';
import { emptyStores } from './empty-stores.ts';

// Test files share isolates and bindings (vitest.config.ts): each starts with none of the others' rows, files and objects.

await emptyStores();

// The parts that the Worker loads on demand. An object that is ended while it loads one would leave the import pending for every later file.
await Promise.all([import('../../src/schedule.ts'), import('../../src/service.ts'), loadParquet()]);
