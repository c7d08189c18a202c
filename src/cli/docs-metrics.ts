import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { metricsPage } from './metrics-page.ts';

writeFileSync(path.join(import.meta.dirname, '../../docs/metrics.md'), metricsPage());
