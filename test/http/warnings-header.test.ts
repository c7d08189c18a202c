import { expect, it } from 'vitest';
import { addWarnings } from '#http';

const headerOf = (warnings: { path: string; message: string }[]): string | null => {
  const answer = new Response(null);
  addWarnings(answer, warnings);
  return answer.headers.get('X-Warnings');
};

it('is absent without warnings', () => {
  expect(headerOf([])).toBeNull();
});

it('is JSON of visible ASCII, whatever a warning quotes', () => {
  const warnings = [{ path: 'data.näme', message: 'is “日本” 😀\n\u0007' }];
  const header = headerOf(warnings) ?? '';
  expect(header).toMatch(/^[ -~]+$/);
  expect(JSON.parse(header)).toEqual(warnings);
});

it.each([
  [20, 100],
  [500, 100],
  [20, 100_000],
])('is bounded for %i warnings of %i characters', (count, length) => {
  const header = headerOf(
    Array.from({ length: count }, (_, index) => ({ path: `field_${index}`, message: 'é'.repeat(length) })),
  );
  expect(header?.length).toBeLessThanOrEqual(4096);
  const listed = JSON.parse(header ?? '');
  expect(listed.length).toBeGreaterThan(0);
  expect(listed.length < count).toBe(listed.at(-1).path === '');
});
