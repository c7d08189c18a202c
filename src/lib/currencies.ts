// ISO 4217 list one, including funds and metals. The runtime's own list is out of date: it lacks SLE, ZWG and XCG.
const CODES =
  'aed afn all amd aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob bov brl bsd btn bwp byn bzd cad cdf che chf chw ' +
  'clf clp cny cop cou crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd hkd hnl htg ' +
  'huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd mad mdl mga mkd mmk ' +
  'mnt mop mru mur mvr mwk mxn mxv myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar ' +
  'sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd tzs uah ugx usd usn uyi uyu uyw ' +
  'uzs ved ves vnd vuv wst xad xaf xag xau xba xbb xbc xbd xcd xcg xdr xof xpd xpf xpt xsu xts xua xxx yer zar zmw zwg';

/** Lower-case ISO 4217 codes. */
export const CURRENCIES: ReadonlySet<string> = new Set(CODES.split(' '));

/**
 * Codes that were not always in force, each with its last day (`to`), and its first (`from`) where an amount of another time would be of another
 * currency. The last day is the one on which amounts could still be of it.
 * Source: ISO 4217 list three (historic denominations), which has the month of each withdrawal, as published by datasets/currency-codes. Where an
 * old currency was in use beside the new one for longer, as azm, ghc, mzm, rol and tmm were, until then. Withdrawals since 2014 and first days: the
 * amendments of ISO 4217, compared with the days of tender in Unicode CLDR 48.2 (supplemental/currencyData), and the central banks' notices for sle,
 * sll, zwg and zwl. `bgn` and `hrk` end when prices went over to the euro, `ang` when xcg replaced it. Codes that are older than any event,
 * 2010, have no first day.
 */
const DATED: ReadonlyMap<string, { from?: string; to?: string }> = new Map<
  string,
  { from?: string; to?: string }
>([
  ['ssp', { from: '2011-07-18' }],
  ['zmw', { from: '2013-01-01' }],
  ['byn', { from: '2016-07-01' }],
  ['mru', { from: '2018-01-01' }],
  ['stn', { from: '2018-01-01' }],
  ['ves', { from: '2018-08-20' }],
  ['ved', { from: '2021-10-01' }],
  ['sle', { from: '2022-04-01' }],
  ['zwg', { from: '2024-04-05' }],
  ['xad', { from: '2025-05-12' }],
  ['xcg', { from: '2025-03-31' }],
  ['csd', { to: '2006-12-31' }],
  ['mgf', { to: '2004-12-31' }],
  ['uss', { to: '2014-03-31' }],
  ['ang', { to: '2025-03-31' }],
  ['azm', { to: '2006-12-31' }],
  ['bgn', { to: '2025-12-31' }],
  ['byr', { to: '2016-12-31' }],
  ['cuc', { to: '2021-06-30' }],
  ['cyp', { to: '2007-12-31' }],
  ['eek', { to: '2010-12-31' }],
  ['ghc', { to: '2007-12-31' }],
  ['hrk', { to: '2022-12-31' }],
  ['ltl', { to: '2014-12-31' }],
  ['lvl', { to: '2013-12-31' }],
  ['mro', { to: '2017-12-31' }],
  ['mtl', { to: '2007-12-31' }],
  ['mzm', { to: '2006-12-31' }],
  ['rol', { to: '2006-12-31' }],
  ['sdd', { to: '2007-06-30' }],
  ['sit', { to: '2006-12-31' }],
  ['skk', { to: '2008-12-31' }],
  ['sll', { to: '2024-03-31' }],
  ['srg', { to: '2003-12-31' }],
  ['std', { to: '2017-12-31' }],
  ['tmm', { to: '2009-12-31' }],
  ['trl', { to: '2005-12-31' }],
  ['veb', { to: '2007-12-31' }],
  ['vef', { from: '2008-01-01', to: '2018-08-19' }],
  ['zmk', { to: '2012-12-31' }],
  ['zwd', { to: '2008-07-31' }],
  ['zwl', { from: '2009-02-02', to: '2024-08-31' }],
  ['zwr', { from: '2008-08-01', to: '2009-02-01' }],
]);

const END_OF_TIME = '9999-12-31';

/** Whether a text is a code that is or was in force. */
export const isCurrencyOfAnyDay = (code: string): boolean => CURRENCIES.has(code) || DATED.has(code);

/** Why a code was not in force on a day (`YYYY-MM-DD`); null if it was, or is none. */
export function currencyDayFault(code: string, day: string): string | null {
  const { from = '', to = END_OF_TIME } = DATED.get(code) ?? {};
  if (day >= from && day <= to) return null;
  const inForce = [from === '' ? '' : ` from ${from}`, to === END_OF_TIME ? '' : ` until ${to}`].join('');
  return `must be a currency of its day: ${code} was in force${inForce}`;
}

/** Whether a code may have been out of force: the day of an amount then matters. */
export const isDatedCurrency = (code: string): boolean => DATED.has(code);
