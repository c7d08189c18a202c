import { describe, expect, it } from 'vitest';
import { paramsOf } from '../../src/attribution/device-report.ts';
import { playReferrerOf } from '../../src/attribution/play-referrer.ts';
import { referrerWarnings } from '../../src/attribution/referrer.ts';

const ID = 'clk_1.a.b';
const MALFORMED = 'has malformed percent-encoding; read as it is';
const LONG = 'is longer than 4096 characters; what is beyond is ignored';

describe('a referrer', () => {
  it.each([
    ['as it is', `click_id=${ID}&gclid=Cj0K`, []],
    ['encoded', `click_id%3D${ID}%26gclid%3DCj0K`, []],
    ['encoded twice', `click_id%253D${ID}%2526gclid%253DCj0K`, []],
    ['with a naked %', `click_id=${ID}&utm_campaign=50%&gclid=Cj0K`, [`utm_campaign ${MALFORMED}`]],
    [
      'encoded, with a naked %',
      `click_id%3D${ID}%26gclid%3DCj0K%26utm_campaign%3D50%`,
      [`utm_campaign ${MALFORMED}`],
    ],
    ['with Latin 1', `utm_campaign=caf%E9&click_id=${ID}&gclid=Cj0K`, [`utm_campaign ${MALFORMED}`]],
    ['escaped as HTML', `utm_source=x&amp;click_id=${ID}&amp;amp;gclid=Cj0K`, []],
    ['escaped as HTML and encoded', `utm_source%3Dx%26amp%3Bclick_id%3D${ID}%26amp%3Bgclid%3DCj0K`, []],
    ['behind its name', `referrer=click_id%3D${ID}%26gclid%3DCj0K`, []],
    ['behind its name, not encoded', `referrer=click_id=${ID}&gclid=Cj0K`, []],
    [
      'in the address of the store',
      `https://play.google.com/store/apps/details?id=a.b&referrer=click_id%3D${ID}%26gclid%3DCj0K`,
      [],
    ],
    ['with a fragment', `click_id=${ID}&gclid=Cj0K#install`, []],
    ['with a byte order mark', `\uFEFFclick_id=${ID}&gclid=Cj0K`, []],
    ['with an encoded one', `%EF%BB%BFclick_id=${ID}&gclid=Cj0K`, []],
    ['with a line break at its end', `click_id=${ID}&gclid=Cj0K\r\n`, []],
    ['with a line break after an id', `click_id=${ID}\r\n&gclid=Cj0K`, []],
    ['on several lines', `click_id=${ID}\r\ngclid=Cj0K\r\n`, []],
    ['with a NUL', `click_id=${ID}&gclid=Cj0K\0`, []],
    ['with spaces', ` click_id = ${ID} & gclid = Cj0K `, []],
    ['with plus signs', `+click_id=${ID}&gclid=Cj0K&utm_source=google+play`, []],
    ['in quotes', `"click_id=${ID}&gclid=Cj0K"`, []],
    ['in JSON', `click_id=${ID}\\u0026gclid=Cj0K`, []],
    ['in JSON, with equals signs', `click_id\\u003d${ID}\\u0026gclid\\u003DCj0K`, []],
    ['in upper case', `CLICK_ID=${ID}&GCLID=Cj0K`, []],
    ['encoded three times', `click_id%25253D${ID}%252526gclid%25253DCj0K`, []],
    ['encoded four times', `click_id%2525253D${ID}%25252526gclid%2525253DCj0K`, []],
    ['behind its name twice', `referrer=referrer%3Dclick_id%253D${ID}%2526gclid%253DCj0K`, []],
    ['with empty ids first', `click_id=&gclid=&click_id=${ID}&gclid=Cj0K`, []],
    ['with ids twice', `click_id=${ID}&gclid=Cj0K&click_id=clk_2.a.b&gclid=Other`, []],
    [
      'in the address of the store, with a fragment',
      `https://play.google.com/store/apps/details?id=a.b&referrer=click_id%3D${ID}%26gclid%3DCj0K#top`,
      [],
    ],
    [
      'with a naked % after its click',
      `gclid=Cj0K&click_id=${ID}%`,
      ['click_id has malformed percent-encoding; read as it is'],
    ],
    ['too long', `click_id=${ID}&gclid=Cj0K&x=${'y'.repeat(5_000)}`, [LONG]],
    ['too long and encoded', `click_id%3D${ID}%26gclid%3DCj0K%26x%3D${'y'.repeat(5_000)}`, [LONG]],
  ])('%s names its click', (_, install_referrer, warnings) => {
    expect(paramsOf(install_referrer)?.click_id).toBe(ID);
    expect(playReferrerOf({ install_referrer })?.click_ids).toEqual({ gclid: 'Cj0K' });
    expect(referrerWarnings(install_referrer)).toEqual(warnings);
  });

  it.each([
    ['gclid={gclid}', ['gclid is a macro that was not replaced; counted as absent']],
    [
      'click_id=null&fbclid=undefined',
      [
        'click_id says nothing, like null; counted as absent',
        'fbclid says nothing, like null; counted as absent',
      ],
    ],
    [`gclid=${'x'.repeat(5_000)}`, [LONG]],
    ['utm_source=google-play&utm_medium=organic', []],
    ['utm_source=(not%20set)&utm_medium=(not%20set)', []],
    ['', []],
    [undefined, []],
  ])('%s names none', (install_referrer, warnings) => {
    expect(paramsOf(install_referrer)).toBeNull();
    expect(playReferrerOf({ install_referrer })).toBeNull();
    expect(referrerWarnings(install_referrer)).toEqual(warnings);
  });

  it('keeps a plus sign of a network’s id', () => {
    expect(playReferrerOf({ install_referrer: 'gclid=Cj0K+a%2Bb' })?.click_ids).toEqual({
      gclid: 'Cj0K+a+b',
    });
  });

  it('names the first of its clicks that says something', () => {
    expect(playReferrerOf({ install_referrer: 'gclid={gclid}&gclid=Cj0K' })?.click_ids).toEqual({
      gclid: 'Cj0K',
    });
  });
});
