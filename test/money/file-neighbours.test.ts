import { writeXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Neighbours of the files in test/foreign: other signs, digits, days and words for totals, with the spend that their rows give.

const worker = startWorker();

const upload = (tenant: Tenant, body: string | Uint8Array<ArrayBuffer>) =>
  worker.request(`/v1/costs/file?application_id=${tenant.application.id}`, {
    method: 'PUT',
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'text/csv' },
    body,
  });

const FILES: readonly (readonly [name: string, text: string, spend: string])[] = [
  ['sep= line', 'sep=;\nday;campaign;amount\n2026-03-02;A;1,50\n', 'usd 1.5'],
  [
    'quotes+pipes',
    '"Day"|"Campaign name"|"Amount spent (EUR)"\n"2026-03-02"|"A,B"|"1.234,50"\n',
    'eur 1234.5',
  ],
  ['us date', 'Day,Campaign name,Amount spent (USD)\n03/13/2026,A,1\n', 'usd 1'],
  ['eu date', 'Day,Campaign name,Amount spent (EUR)\n13.03.2026,A,1\n', 'eur 1'],
  ['month name', 'Day,Campaign,Cost,Currency code\n"Mar 2, 2026",A,1,USD\n', 'usd 1'],
  ['minus zero', 'date,campaign,amount\n2026-03-02,A,-0\n', 'usd 0'],
  ['currency code after', 'date,campaign,amount\n2026-03-02,A,12.30 USD\n', 'usd 12.3'],
  ['symbol pound', 'date,campaign,amount\n2026-03-02,A,£12.30\n', 'gbp 12.3'],
  ['R$', 'date,campaign,amount\n2026-03-02,A,"R$ 1.234,50"\n', 'brl 1234.5'],
  ['won', 'date,campaign,amount\n2026-03-02,A,"₩1,250"\n', 'krw 1250'],
  ['rupee', 'date,campaign,amount\n2026-03-02,A,"₹1,23,456.78"\n', 'inr 123456.78'],
  ['US$', 'date,campaign,amount\n2026-03-02,A,"US$1,250.00"\n', 'usd 1250'],
  ['kr', 'date,campaign,amount,currency\n2026-03-02,A,"1 250,00 kr",sek\n', 'sek 1250'],
  ['arabic digits', 'date,campaign,amount\n2026-03-02,A,١٢٫٥\n', 'usd 12.5'],
  ['fullwidth', 'date,campaign,amount\n2026-03-02,A,１２．５\n', 'usd 12.5'],
  ['total fi', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nYhteensä,,1\n', 'eur 1'],
  ['total sv', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nSumma,,1\n', 'eur 1'],
  ['total cs', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nCelkem,,1\n', 'eur 1'],
  ['total el', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nΣύνολο,,1\n', 'eur 1'],
  ['total he', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nסה"כ,,1\n', 'eur 1'],
  ['total th', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nรวม,,1\n', 'eur 1'],
  ['total vi', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nTổng cộng,,1\n', 'eur 1'],
  ['total id', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nJumlah,,1\n', 'eur 1'],
  ['total hu', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nÖsszesen,,1\n', 'eur 1'],
  ['total da', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nI alt,,1\n', 'eur 1'],
  ['total uk', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nУсього,,1\n', 'eur 1'],
  ['total ro', 'Day,Campaign name,Amount spent (EUR)\n2026-03-02,A,1\nTotal general,,1\n', 'eur 1'],
  [
    'n/a cells',
    'Day,Campaign name,Amount spent (EUR),Impressions,Link clicks\n2026-03-02,A,1,N/A,–\n2026-03-03,A,-,—,n/a\n',
    'eur 1',
  ],
  ['crlf bom', '\uFEFFday,campaign,amount\r\n2026-03-02,A,1\r\n', 'usd 1'],
  ['cr only', 'day,campaign,amount\r2026-03-02,A,1\r', 'usd 1'],
  ['iso time', 'date,campaign,amount\n2026-03-02T00:00:00+00:00,A,1\n', 'usd 1'],
  ['yen sign and column', 'date,campaign,amount,currency\n2026-03-02,A,"¥1,250",JPY\n', 'jpy 1250'],
  ['wide yen sign and heading', 'date,campaign,Amount spent (JPY)\n2026-03-02,A,"￥1,250"\n', 'jpy 1250'],
  ['yuan sign', 'date,campaign,amount,currency\n2026-03-02,A,"¥1,250.50",CNY\n', 'cny 1250.5'],
  ['dollars of Canada', 'date,campaign,amount,currency\n2026-03-02,A,$12.30,CAD\n', 'cad 12.3'],
  ['a spreadsheet’s day', 'date,campaign,amount\n46083,A,1\n', 'usd 1'],
  ['a spreadsheet’s time', 'Day,Campaign name,Amount spent (EUR)\n46083.75,A,1\n', 'eur 1'],
  ['a spreadsheet’s time, comma', 'date;campaign;amount\n46083,75;A;1\n', 'usd 1'],
  ['compact day', 'date,campaign,amount\n20260302,A,1\n', 'usd 1'],
  ['trailing delimiter', 'date,campaign,amount,\n2026-03-02,A,1,\n', 'usd 1'],
  ['heading caps/space', ' Date , Campaign , Amount \n2026-03-02,A,1\n', 'usd 1'],
  ['spend usd bracket', 'Date,Campaign Name,Spend [USD]\n2026-03-02,A,1\n', 'usd 1'],
  [
    'japanese impressions',
    '日,キャンペーン名,消化金額 (JPY),インプレッション数,リンクのクリック\n2026-03-02,A,"1,250","1,000",5\n',
    'jpy 1250',
  ],
];
it.each(FILES)('reads a file with %s', async (_, text, spend) => {
  const tenant = await createTenant();
  const answer = await upload(tenant, text);
  const body = await answer.json<{ amounts?: { currency: string; amount: number }[] }>();
  const read = body.amounts?.map(({ currency, amount }) => `${currency} ${amount}`).join();
  expect(read, JSON.stringify(body)).toBe(spend);
});

it.each([
  ['"¥1,250"', 'is in ¥, such as JPY or CNY, and not in USD: add a column currency'],
  ['¥12', 'is in ¥, such as JPY or CNY, and not in USD: add a column currency'],
  ['12 kr', 'is in kr, such as SEK or NOK, and not in USD: add a column currency'],
])('refuses %s alone', async (amount, reason) => {
  const answer = await upload(await createTenant(), `date,campaign,amount\n2026-03-02,A,${amount}\n`);
  const plain = amount.replaceAll('"', '');
  expect([answer.status, await answer.json()]).toEqual([
    400,
    expect.objectContaining({ message: expect.stringContaining(`Line 2: amount "${plain}" ${reason}`) }),
  ]);
});

it('refuses a sign of another currency than the column’s', async () => {
  const file = 'date,campaign,amount,currency\n2026-03-02,A,$12.30,EUR\n';
  const answer = await upload(await createTenant(), file);
  expect([answer.status, await answer.json()]).toEqual([
    400,
    expect.objectContaining({ message: 'Line 2: amount is in $, but currency is EUR' }),
  ]);
});

it('reads the days of a workbook whose cells are numbers', async () => {
  const rows = [
    ['date', 'campaign', 'amount'],
    [46083, 'A', 1],
    [46084.125, 'A', 2],
  ];
  const tenant = await createTenant();
  const answer = await upload(tenant, new Uint8Array(await writeXlsx({ sheets: [{ name: 'Costs', rows }] })));
  expect(await answer.json()).toMatchObject({ stored: 2, amounts: [{ currency: 'usd', amount: 3 }] });
  const path = `/v1/costs?application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  const { data } = await (await worker.team(tenant, path)).json<{ data: { date: string }[] }>();
  expect(data.map(({ date }) => date).sort()).toEqual(['2026-03-02', '2026-03-03']);
});
