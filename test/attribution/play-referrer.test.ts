import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLAY_TIMES } from '#attribution';
import { playReferrerOf } from '../../src/attribution/play-referrer.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const [clicked, began, clickedServer, beganServer] = PLAY_TIMES;

describe('the click ids of a referrer', () => {
  it.each([
    ['gclid=Cj0K&utm_source=google-play', 'google', { gclid: 'Cj0K' }],
    ['gbraid=0AAA&gad_source=1', 'google', { gbraid: '0AAA' }],
    ['wbraid=Clg', 'google', { wbraid: 'Clg' }],
    ['gclid%3DCj0K%26utm_source%3Dgoogle', 'google', { gclid: 'Cj0K' }],
    ['click_id=clk_1.a.b&ttclid=E.C.P.1&campaign_name=Spring%20sale', 'tiktok', { ttclid: 'E.C.P.1' }],
    ['gclid=first&gclid=second', 'google', { gclid: 'first' }],
    ['msclkid=1', null, { msclkid: '1' }],
  ])('%s', (install_referrer, network, click_ids) => {
    expect(playReferrerOf({ install_referrer })).toEqual({ network, click_ids });
  });

  it.each([
    undefined,
    '',
    'utm_source=google-play&utm_medium=organic',
    'gclid=',
    `gclid=${'x'.repeat(257)}`,
    '%',
  ])('are none in %s', (install_referrer) => {
    expect(playReferrerOf({ install_referrer })).toBeNull();
  });

  it('survive any encoding on the way, up to two', () =>
    fc.assert(
      fc.property(fc.stringMatching(/^Cj[\w.-]{1,78}x$/), fc.nat(2), (id, times) => {
        let install_referrer = `utm_source=google&gclid=${id}`;
        for (let time = 0; time < times; time++) install_referrer = encodeURIComponent(install_referrer);
        expect(playReferrerOf({ install_referrer })).toEqual({ network: 'google', click_ids: { gclid: id } });
      }),
    ));
});

it('keeps the times that Play knows', () => {
  const report = {
    [clicked]: 1_772_000_000,
    [began]: 0,
    [clickedServer]: undefined,
    [beganServer]: 1_772_000_009,
  };
  expect(playReferrerOf(report)).toEqual({
    network: null,
    click_ids: {},
    [clicked]: 1_772_000_000,
    [beganServer]: 1_772_000_009,
  });
  expect(playReferrerOf({ [clicked]: 0 })).toBeNull();
});

describe('/fetch-token', () => {
  const worker = startWorker();
  const send = async (data: Record<string, unknown>) => {
    const tenant = await createTenant();
    const answer = await worker.post(tenant, '/fetch-token', {
      type: 'device-metrics',
      created_at: new Date().toISOString(),
      data: {
        device_name: 'Pixel',
        device_model: 'Pixel 9',
        os_system: 'Android 16',
        timezone: 'UTC',
        ...data,
      },
    });
    const { token }: { token: string } = await answer.json();
    expect([answer.status, Boolean(token)]).toEqual([200, true]);
    await settleAll(tenant.application.id);
    const explained = await worker.team(tenant, `/v1/devices/${token}/attribution`);
    return explained.json<Record<string, unknown>>();
  };

  it('explains an install with what Play reported', async () => {
    const times = Object.fromEntries(PLAY_TIMES.map((name, index) => [name, String(1_772_000_000 + index)]));
    const answer = await send({ install_referrer: 'gclid=Cj0K&utm_source=google', ...times });
    expect(answer).toMatchObject({
      method: 'organic',
      play_referrer: {
        network: 'google',
        click_ids: { gclid: 'Cj0K' },
        [clicked]: 1_772_000_000,
        [beganServer]: 1_772_000_003,
      },
    });
  });

  it('ignores a malformed time, and has nothing to explain without any', async () => {
    const answer = await send({ [clicked]: -1, [began]: 'soon', [clickedServer]: 1.5, [beganServer]: null });
    expect(answer).not.toHaveProperty('play_referrer');
  });
});
