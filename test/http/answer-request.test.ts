import { expect, it } from 'vitest';
import { LINK_TOKEN } from '#tracking';
import { service, teamApi } from '../../src/service.ts';

it('has no route that a link under a separate address could match', () => {
  const segments = [...service.routes, ...teamApi.routes].map(({ path }) => path.split('/')[1] ?? '');
  expect(segments).toContain('v1');
  expect(segments.filter((segment) => LINK_TOKEN.test(segment))).toEqual([]);
});
