import { describe, expect, it } from 'vitest';
import { PERIOD, readRecorded, rowsOf } from './report-answers.ts';

// Answers in the form that the networks document, with invented figures. Ids beyond 2^53 are spelled as the networks do: Meta and TikTok as text
// or as numbers, Google as text.

const AD = '23854855793500701';

describe('Meta', () => {
  const ACCOUNT = { currency: 'EUR', timezone_name: 'Europe/Berlin', id: 'act_17' };
  const STARTED = '{"report_run_id":"6023920149050701"}';
  const job = (async_status: string) => ({ id: '1', async_status, async_percent_completion: 100 });
  const DONE = job('Job Completed');
  const NO_TOKEN_INFO = { status: 400, text: '{}' };
  const row = (more: object = {}) => ({
    ...{ campaign_id: '1', campaign_name: 'Spring', adset_id: '2', adset_name: 'Young' },
    ...{ ad_id: AD, ad_name: 'Cat', spend: '12.34', impressions: '1000', clicks: '10' },
    ...{ account_currency: 'EUR', date_start: '2026-03-02', date_stop: '2026-03-02', country: 'DE' },
    ...more,
  });

  it('starts a report, waits for it, and reads it page by page', () => {
    const read = readRecorded('meta', [
      ACCOUNT,
      STARTED,
      job('Job Running'),
      DONE,
      { data: [row()], paging: { cursors: { before: 'a', after: 'QVFI' }, next: 'https://graph/next' } },
      { data: [row({ country: 'unknown', spend: '0' })], paging: { cursors: { before: 'b', after: 'c' } } },
      { data: { expires_at: 1_780_000_000, is_valid: true } },
    ]);
    expect(rowsOf(read)).toEqual([
      {
        network: 'meta',
        date: '2026-03-02',
        campaign: { id: '1', name: 'Spring' },
        adset: { id: '2', name: 'Young' },
        ad: { id: AD, name: 'Cat' },
        ...{ country: 'DE', os: '', currency: 'eur', nanos: 12_340_000_000n },
        ...{ impressions: 1000, clicks: 10 },
      },
      expect.objectContaining({ country: '', nanos: 0n }),
    ]);
    expect(read.outcome).toMatchObject({
      account: { currency: 'eur', timezone: 'Europe/Berlin' },
      expiresAt: 1_780_000_000_000,
    });
    const asked = read.requests.map(({ url }) => new URL(url));
    expect(asked.map(({ pathname }) => pathname)).toEqual([
      '/v24.0/act_17',
      '/v24.0/act_17/insights',
      ...['', '', '/insights', '/insights'].map((end) => `/v24.0/6023920149050701${end}`),
      '/v24.0/debug_token',
    ]);
    const body = new URLSearchParams(read.requests[1]?.body);
    expect(JSON.parse(body.get('time_range') ?? '')).toEqual({ since: PERIOD.from, until: PERIOD.to });
    expect(Object.fromEntries(body)).toMatchObject({
      level: 'ad',
      time_increment: '1',
      breakdowns: 'country',
    });
    expect(read.requests.map(({ afterSeconds = 0 }) => afterSeconds)).toEqual([0, 0, 3, 5, 0, 0, 0]);
    expect(asked[5]?.searchParams.get('after')).toBe('QVFI');
    expect(asked.every(({ href }) => href.startsWith('https://graph.facebook.com/'))).toBe(true);
  });

  it('keeps every digit of an id that is spelled as a number', () => {
    const page = `{"data":[${JSON.stringify(row()).replace(`"${AD}"`, AD)}]}`;
    const [only] = rowsOf(readRecorded('meta', [ACCOUNT, STARTED, DONE, page, NO_TOKEN_INFO]));
    expect(only?.ad?.id).toBe(AD);
  });

  it('leaves a report that is not ready to a later run, which reads it without starting another', () => {
    const running = job('Job Running');
    const { outcome } = readRecorded('meta', [ACCOUNT, STARTED, running, running, running]);
    expect(outcome).toEqual({ waitSeconds: 60, state: { job: '6023920149050701' } });
    const state = { job: '6023920149050701' };
    expect(readRecorded('meta', [ACCOUNT, running], state).outcome).toEqual(outcome);
    const later = readRecorded('meta', [ACCOUNT, DONE, { data: [row()] }, NO_TOKEN_INFO], state);
    expect(rowsOf(later)).toHaveLength(1);
  });

  it('takes an account without spend as no rows', () => {
    const read = readRecorded('meta', [ACCOUNT, STARTED, DONE, { data: [] }, NO_TOKEN_INFO]);
    expect(read.outcome).toMatchObject({ rows: [], expiresAt: null });
  });

  it('waits if it asks too often, and gives up for a while', () => {
    const limit = { status: 400, text: '{"error":{"message":"User request limit reached","code":17}}' };
    const once = readRecorded('meta', [limit, ACCOUNT, STARTED, DONE, { data: [] }, NO_TOKEN_INFO]);
    expect(once.requests[1]?.afterSeconds).toBe(2);
    const always = () =>
      readRecorded(
        'meta',
        Array.from({ length: 6 }, () => limit),
      );
    expect(always).toThrow('Meta takes no more requests for now');
  });

  it.each([
    [
      [{ status: 400, text: '{"error":{"code":190,"message":"Session has expired"}}' }],
      /does not accept the access token: Session has expired/,
    ],
    [
      [{ status: 403, text: '{"error":{"code":200,"message":"No permission"}}' }],
      /^Meta answered error 200: No permission$/,
    ],
    [[{ status: 502, text: '<html>Bad gateway</html>' }], /^Meta answered 502: <html>/],
    [[ACCOUNT, STARTED, job('Job Failed')], /did not make the report: Job Failed/],
    [[ACCOUNT, {}], /something else than its documentation says, at report_run_id/],
    [[ACCOUNT, STARTED, DONE, { data: [row({ spend: 'much' })] }], /at data\.0\.spend/],
  ])('says what is wrong with %j', (answers, reason) => {
    expect(() => readRecorded('meta', answers)).toThrow(reason);
    expect(() => readRecorded('meta', answers)).not.toThrow('secret-token');
  });
});

it('asks for no further page once there are too many rows, and does not count campaigns that are left out', () => {
  const info = { code: 0, data: { list: [{ currency: 'USD' }] } };
  const item = (campaign_name: string) => ({
    dimensions: { ad_id: '1', stat_time_day: '2026-03-02' },
    metrics: { campaign_id: '1', campaign_name, adgroup_id: '2', adgroup_name: '', ad_name: '', spend: '1' },
  });
  const page = (name: string) => ({
    code: 0,
    data: { list: Array<object>(1_000).fill(item(name)), page_info: { total_page: 52 } },
  });
  const pages = (names: readonly string[]) => [info, ...names.map(page)];
  const many = Array<string>(51).fill('Spring');
  expect(() => readRecorded('tiktok', pages(many))).toThrow('the report has more than 50000 rows');
  const few = [...Array<string>(51).fill('Autumn'), 'Spring'];
  const settings = { campaign_contains: 'spring' };
  expect(rowsOf(readRecorded('tiktok', pages(few), null, settings))).toHaveLength(1_000);
});

describe('TikTok', () => {
  const ok = (data: object) => ({ code: 0, message: 'OK', request_id: 'r', data });
  const INFO = ok({ list: [{ advertiser_id: '71', currency: 'JPY', timezone: 'Asia/Tokyo' }] });
  const item = (ad_id: string, spend: string) => ({
    dimensions: { ad_id, stat_time_day: '2026-03-02 00:00:00' },
    metrics: {
      ...{ campaign_id: '1', campaign_name: 'Spring', adgroup_id: '2', adgroup_name: 'Young' },
      ...{ ad_name: 'Cat', spend, impressions: '1000', clicks: '10' },
    },
  });
  const page = (number: number, total_page: number, ...list: object[]) =>
    ok({ list, page_info: { page: number, page_size: 1000, total_number: 2, total_page } });

  it('reads page by page, in the currency of the account', () => {
    const read = readRecorded('tiktok', [INFO, page(1, 2, item(AD, '100.0')), page(2, 2, item('9', '0.01'))]);
    expect(rowsOf(read)).toEqual([
      {
        network: 'tiktok',
        date: '2026-03-02',
        campaign: { id: '1', name: 'Spring' },
        adset: { id: '2', name: 'Young' },
        ad: { id: AD, name: 'Cat' },
        ...{ country: '', os: '', currency: 'jpy', nanos: 100_000_000_000n },
        ...{ impressions: 1000, clicks: 10 },
      },
      expect.objectContaining({ ad: { id: '9', name: 'Cat' }, nanos: 10_000_000n }),
    ]);
    expect(read.outcome).toMatchObject({ account: { currency: 'jpy', timezone: 'Asia/Tokyo' } });
    const asked = new URL(read.requests[2]?.url ?? '');
    expect(asked.pathname).toBe('/open_api/v1.3/report/integrated/get/');
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ advertiser_ids: '["71"]', data_level: 'AUCTION_AD', page: '2' },
      ...{ start_date: PERIOD.from, end_date: PERIOD.to },
    });
    expect(read.requests[2]?.headers).toEqual({ 'Access-Token': 'secret-token' });
  });

  it('waits 2, 4, 8 … seconds at its limit, which has HTTP status 200', () => {
    const limit = { code: 40016, message: 'Request too frequent, QPS limit reached', data: {} };
    const read = readRecorded('tiktok', [INFO, limit, limit, page(1, 1, item('9', '1'))]);
    expect(read.requests.map(({ afterSeconds = 0 }) => afterSeconds)).toEqual([0, 0, 2, 4]);
    const always = [INFO, ...Array.from({ length: 6 }, () => limit)];
    expect(() => readRecorded('tiktok', always)).toThrow('TikTok takes no more requests for now');
  });

  it('takes no pages as no rows', () => {
    expect(rowsOf(readRecorded('tiktok', [INFO, page(1, 0)]))).toEqual([]);
  });

  it.each([
    [
      { code: 40105, message: 'Access token is incorrect or has been revoked', data: {} },
      /does not accept the access token: Access token is/,
    ],
    [{ code: 40002, message: 'Invalid date', data: {} }, /^TikTok answered error 40002: Invalid date$/],
    [{ status: 503, text: 'Service unavailable' }, /^TikTok answered 503: Service unavailable$/],
  ])('says what is wrong with %j', (answer, reason) => {
    expect(() => readRecorded('tiktok', [INFO, answer])).toThrow(reason);
  });
});

describe('AppLovin', () => {
  const result = (more: object = {}) => ({
    ...{ day: '2026-03-02', campaign: 'Spring', campaign_id_external: 'f00d' },
    ...{ creative_set: 'Young', creative_set_id: AD, ad: 'Cat', ad_id: '9', country: 'de' },
    ...{ platform: 'ios', cost: '1.5', impressions: '100', clicks: '3', ...more },
  });

  it('reads countries, platforms and amounts with more places than cents', () => {
    const rest = { cost: 0.000001234, country: 'xx1', platform: 'fireos', ad_id: null };
    const read = readRecorded('applovin', [{ code: 200, results: [result(), result(rest)], count: 2 }]);
    expect(rowsOf(read)).toEqual([
      {
        network: 'applovin',
        date: '2026-03-02',
        campaign: { id: 'f00d', name: 'Spring' },
        adset: { id: AD, name: 'Young' },
        ad: { id: '9', name: 'Cat' },
        ...{ country: 'DE', os: 'ios', currency: 'usd', nanos: 1_500_000_000n },
        ...{ impressions: 100, clicks: 3 },
      },
      expect.objectContaining({ country: '', os: '', ad: null, nanos: 1_234n }),
    ]);
    const asked = Object.fromEntries(new URL(read.requests[0]?.url ?? '').searchParams);
    expect(asked).toMatchObject({ report_type: 'advertiser', start: PERIOD.from, end: PERIOD.to });
  });

  it('waits as long as it is told to, and takes nothing as no rows', () => {
    const limit = { status: 429, text: 'Slow down', retryAfterSeconds: 20 };
    const read = readRecorded('applovin', [limit, { code: 200, results: [] }]);
    expect([rowsOf(read), read.requests[1]?.afterSeconds]).toEqual([[], 20]);
    const hour = { ...limit, retryAfterSeconds: 3600 };
    expect(() => readRecorded('applovin', [hour])).toThrow(
      expect.objectContaining({ retryAfterSeconds: 3600 }),
    );
  });

  it.each([
    ['{"results":[{', /^AppLovin answered JSON that ends too early$/],
    ['<html>', /^AppLovin answered JSON without a list of rows$/],
    [{ code: 500 }, /^AppLovin answered JSON without a list of rows$/],
    [{ results: [result({}), result({ cost: 'much' })] }, /documentation says, at results\.1\.cost$/],
  ])('says what is wrong with %j', (answer, reason) => {
    expect(() => readRecorded('applovin', [answer])).toThrow(reason);
  });

  it('says what is wrong with a wrong key', () => {
    const answer = { status: 403, text: 'Invalid API key' };
    expect(() => readRecorded('applovin', [answer])).toThrow(/^AppLovin answered 403: Invalid API key$/);
  });
});

describe('Google Ads', () => {
  const TOKEN = { access_token: 'ya29', expires_in: 3599, token_type: 'Bearer' };
  const batch = (...results: object[]) => ({ results, fieldMask: '', requestId: 'r' });
  const CUSTOMER = [batch({ customer: { currencyCode: 'EUR', timeZone: 'Europe/Berlin' } })];
  const spend = (id: string, metrics: object, adGroup?: object) => ({
    campaign: { resourceName: 'customers/1/campaigns/1', id, name: 'Spring' },
    ...(adGroup ? { adGroup } : {}),
    segments: { date: '2026-03-02' },
    metrics,
  });

  it('signs in, and reads micros and the stream of answers', () => {
    const read = readRecorded('google', [
      TOKEN,
      CUSTOMER,
      [
        batch(
          spend(
            AD,
            { costMicros: '9007199254740993', impressions: '5', clicks: '1' },
            { id: '2', name: 'G' },
          ),
        ),
        batch(spend('3', {}, { id: '4', name: 'H' })),
      ],
      [batch(spend('5', { costMicros: '1230000', impressions: '7' }))],
    ]);
    expect(rowsOf(read)).toEqual([
      {
        network: 'google',
        date: '2026-03-02',
        campaign: { id: AD, name: 'Spring' },
        adset: { id: '2', name: 'G' },
        ad: null,
        ...{ country: '', os: '', currency: 'eur', nanos: 9_007_199_254_740_993_000n },
        ...{ impressions: 5, clicks: 1 },
      },
      expect.objectContaining({ nanos: 0n, impressions: 0, clicks: 0 }),
      expect.objectContaining({ adset: null, nanos: 1_230_000_000n }),
    ]);
    expect(read.outcome).toMatchObject({ account: { currency: 'eur', timezone: 'Europe/Berlin' } });
    const [signIn, , groups] = read.requests;
    expect(new URLSearchParams(signIn?.body).get('grant_type')).toBe('refresh_token');
    expect(groups?.headers).toMatchObject({
      Authorization: 'Bearer ya29',
      'developer-token': 'dev',
      'login-customer-id': '9876543210',
    });
    expect(JSON.parse(groups?.body ?? '').query).toContain("BETWEEN '2026-03-01' AND '2026-03-07'");
  });

  it('takes empty answers as no rows', () => {
    expect(rowsOf(readRecorded('google', [TOKEN, CUSTOMER, [], [{ fieldMask: '' }]]))).toEqual([]);
  });

  it('waits if its quota is exhausted', () => {
    const quota = {
      status: 429,
      text: '[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}]',
    };
    const read = readRecorded('google', [TOKEN, quota, CUSTOMER, [], []]);
    expect(read.requests[2]?.afterSeconds).toBe(2);
  });

  it.each([
    [
      [
        {
          status: 400,
          text: '{"error":"invalid_grant","error_description":"Token has been expired or revoked."}',
        },
      ],
      /^Google does not accept the refresh token: invalid_grant Token has been expired/,
    ],
    [
      [
        TOKEN,
        {
          status: 403,
          text: '[{"error":{"status":"PERMISSION_DENIED","message":"The caller does not have permission"}}]',
        },
      ],
      /^Google Ads answered PERMISSION_DENIED: The caller/,
    ],
    [[TOKEN, CUSTOMER, [batch(spend('1', { costMicros: '-5' }))]], /at results\.0\.metrics\.costMicros/],
    [
      [TOKEN, CUSTOMER, [batch(spend('1', {})), { error: { code: 500, status: 'INTERNAL' } }]],
      /^Google Ads answered JSON with `error` after row 1$/,
    ],
    [[TOKEN, CUSTOMER, '[{"results":['], /^Google Ads answered JSON that ends too early$/],
    [[TOKEN, []], /does not know customer 1234567890/],
  ])('says what is wrong with %j', (answers, reason) => {
    expect(() => readRecorded('google', answers)).toThrow(reason);
    expect(() => readRecorded('google', answers)).not.toThrow(/hush|refresh\b.*=/);
  });
});
