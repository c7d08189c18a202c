// Fills in the browser's time zone and the currency of its region when an application is created, and offers the others.

const EURO = 'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK'.split(' ');
const CURRENCIES = {
  ...Object.fromEntries(EURO.map((region) => [region, 'eur'])),
  ...{ US: 'usd', GB: 'gbp', JP: 'jpy', CN: 'cny', KR: 'krw', IN: 'inr', BR: 'brl', MX: 'mxn', CA: 'cad' },
  ...{ AU: 'aud', NZ: 'nzd', CH: 'chf', SE: 'sek', NO: 'nok', DK: 'dkk', PL: 'pln', CZ: 'czk', HU: 'huf' },
  ...{ RO: 'ron', TR: 'try', UA: 'uah', IL: 'ils', AE: 'aed', SA: 'sar', EG: 'egp', ZA: 'zar', NG: 'ngn' },
  ...{ KE: 'kes', AR: 'ars', CL: 'clp', CO: 'cop', PE: 'pen', ID: 'idr', MY: 'myr', PH: 'php', SG: 'sgd' },
  ...{ TH: 'thb', VN: 'vnd', TW: 'twd', HK: 'hkd', PK: 'pkr', BD: 'bdt', KZ: 'kzt' },
};

const { region } = new Intl.Locale(navigator.language).maximize();
const suggested = {
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  currency: CURRENCIES[region]?.toUpperCase(),
};

// A form that is shown again with its faults contains what was typed and has no such mark.
for (const form of document.querySelectorAll('[data-suggest]')) {
  for (const [name, value] of Object.entries(suggested)) {
    const field = form.elements[name];
    // What was filled in again after signing in stays.
    if (value && field.value === field.defaultValue) field.value = value;
  }
}

for (const list of document.querySelectorAll('[data-values-of]')) {
  for (const value of Intl.supportedValuesOf(list.dataset.valuesOf)) {
    list.append(Object.assign(document.createElement('option'), { value }));
  }
}
