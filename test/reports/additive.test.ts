import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { METRICS } from '#catalogue';
import { seeded } from '../helpers/random.ts';
