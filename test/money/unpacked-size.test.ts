import { deflateRawSync } from 'node:zlib';
import { writeXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

const ROWS = [
  ['date', 'campaign', 'currency', 'amount'],
  ['2026-03-02', 'Spring', 'usd', '12.5'],
];

const workbook = async (): Promise<Uint8Array> => writeXlsx({ sheets: [{ name: 'Costs', rows: ROWS }] });

async function upload(body: Uint8Array) {
  const tenant = await createTenant();
  const answer = await worker.request(`/v1/costs/file?application_id=${tenant.application.id}`, {
    method: 'PUT',
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' },
    body: new Uint8Array(body),
  });
  const listed = await worker.team(tenant, `/v1/costs?application_id=${tenant.application.id}`);
  const { data } = await listed.json<{ data: unknown[] }>();
  return { status: answer.status, body: await answer.json<{ message?: string }>(), stored: data.length };
}

/** An archive of one entry of zeros, which claims to have `claimed` bytes. */
function archive(bytes: number, claimed: number): Uint8Array {
  const packed = deflateRawSync(new Uint8Array(bytes), { level: 9 });
  const name = new TextEncoder().encode('xl/worksheets/sheet1.xml');
  const local = new DataView(new ArrayBuffer(30));
  local.setUint32(0, 0x04034b50, true);
  local.setUint16(8, 8, true);
  local.setUint32(18, packed.length, true);
  local.setUint32(22, claimed, true);
  local.setUint16(26, name.length, true);
  const entry = new DataView(new ArrayBuffer(46));
  entry.setUint32(0, 0x02014b50, true);
  entry.setUint16(10, 8, true);
  entry.setUint32(20, packed.length, true);
  entry.setUint32(24, claimed, true);
  entry.setUint16(28, name.length, true);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, 1, true);
  end.setUint16(10, 1, true);
  end.setUint32(12, 46 + name.length, true);
  end.setUint32(16, 30 + name.length + packed.length, true);
  const parts = [local, name, packed, entry, name, end].map((part) =>
    part instanceof DataView ? new Uint8Array(part.buffer) : part,
  );
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

const REFUSED = {
  status: 400,
  body: { message: 'The file unpacks to more than 48 MB: export fewer days, or as CSV' },
  stored: 0,
};

it.each([
  ['claims', 1_000, 4_000_000_000],
  ['has, but does not claim,', 60_000_000, 1_000],
])('refuses by name a workbook that %s too much', async (_, bytes, claimed) => {
  expect(await upload(archive(bytes, claimed))).toEqual(REFUSED);
});

it('refuses a workbook of which parts are missing, and reads a whole one', async () => {
  const whole = await workbook();
  expect(await upload(whole)).toMatchObject({ status: 200, stored: 1 });
  const cut = await upload(whole.subarray(0, whole.length - 30));
  expect(cut).toMatchObject({ status: 400, stored: 0 });
  expect(cut.body.message).toBe('The file cannot be read as .xlsx: save it again, or as CSV');
});
