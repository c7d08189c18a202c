import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FunnelQuery, reportFunnel } from '#reports';
import { createTenant } from '../helpers/tenant.ts';

// The groups of a funnel, from what several counters answer.

type Part = { key: string | null; devices: number[]; durations: Uint32Array[]; incomplete: number };

const part = fc.record({
  key: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 1_500 }).map((at) => `1.${at}`) },
    fc.constant(null),
  ),
  first: fc.integer({ min: 1, max: 50 }),
  second: fc.integer({ min: 0, max: 50 }),
});

/** Counters that answer this. */
const answering = (answers: Part[][]) => {
  const stubOf = (name: string) => ({
    funnel: async () => answers[Number(/\d+$/.exec(name)?.[0] ?? 0)] ?? [],
  });
  return { ...env, COUNTERS: { getByName: stubOf } as unknown as Env['COUNTERS'] };
};

it('has the largest groups in order of size, and all others in the last row', async () => {
  const { application } = await createTenant();
  const query = FunnelQuery.parse({
    ...{ application_id: application.id, from: '2026-03-01', to: '2026-03-02', group_by: 'app_version' },
    steps: 'install,ad',
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 1_200, size: 'max' }), async (generated) => {
      const parts = generated.map(
        ({ key, first, second }): Part => ({
          ...{ key, devices: [first, Math.min(first, second)], incomplete: 1 },
          durations: [new Uint32Array(), new Uint32Array([60, Math.min(first, second)])],
        }),
      );
      const half = Math.ceil(parts.length / 2);
      const { data, devices_with_incomplete_history: incomplete } = await reportFunnel(
        answering([parts.slice(0, half), parts.slice(half)]),
        { ...application, shards: 2 },
        query,
      );
      const sumOf = (own: readonly Part[], step: number) =>
        own.reduce((sum, { devices }) => sum + (devices[step] ?? 0), 0);
      const groups = [
        ...Map.groupBy(
          parts.filter(({ key }) => key !== null),
          ({ key }) => key,
        ),
      ];
      groups.sort(([, left], [, right]) => sumOf(right, 0) - sumOf(left, 0));
      const expected = [
        ...groups.slice(0, 500),
        ...(groups.length > 500 || parts.some(({ key }) => key === null)
          ? [
              [
                'other',
                [...groups.slice(500).flatMap(([, own]) => own), ...parts.filter(({ key }) => key === null)],
              ] as const,
            ]
          : []),
      ];
      expect(data.map((row) => row.devices)).toEqual(
        expected.flatMap(([, own]) => [sumOf(own, 0), sumOf(own, 1)]),
      );
      const firsts = data.filter(({ step }) => step === 'install');
      for (const row of firsts) {
        const name = 'app_version' in row ? row.app_version : undefined;
        if ('is_other' in row) expect(row).toBe(firsts.at(-1));
        else
          expect(row.devices).toBe(
            sumOf(
              parts.filter(({ key }) => key === name),
              0,
            ),
          );
      }
      expect(incomplete).toBe(parts.length);
    }),
    { numRuns: 15 },
  );
});
