// ISO 4217 list one, including funds and metals. The runtime's own list is out of date: it lacks SLE, ZWG and XCG.
const CODES =
  'aed afn all amd aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob bov brl bsd btn bwp byn bzd cad cdf che chf chw ' +
  'clf clp cny cop cou crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd hkd hnl htg ' +
  'huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd mad mdl mga mkd mmk ' +
  'mnt mop mru mur mvr mwk mxn mxv myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar ' +
  'sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd tzs uah ugx usd usn uyi uyu uyw ' +
  'uzs ved ves vnd vuv wst xaf xag xau xba xbb xbc xbd xcd xcg xdr xof xpd xpf xpt xsu xts xua xxx yer zar zmw zwg';

/** Lower-case ISO 4217 codes. */
export const CURRENCIES: ReadonlySet<string> = new Set(CODES.split(' '));
