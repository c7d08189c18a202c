import { type Fault, invalidRequest } from '#http';
import { currencyDayFault, isCurrencyOfAnyDay } from '#lib/currencies';
import { divideRounded, readDecimal } from '#lib/decimal';
import { COUNTRY_CODE_FAULT, toCountryCode } from '#lib/input/country';
import { placeholderFault, placeholderId, placeholderName } from '#lib/input/placeholder';
import { NANOS_LIMIT, nanosOf } from '#lib/money';
import { iso } from '#lib/time';
import { EARLIEST, readEpochOrText } from '#lib/timestamp';
import { type ImpressionTemplate, MAX_NETWORK_CHARACTERS, toNetwork } from '#networks';

/** What a callback tells of an impression. */
export type Impression = {
  /** The platform's id, as text: it may have more digits than a number keeps. Null if it sent a placeholder: then each callback is its own. */
  id: string | null;
  nanos: number;
  currency: string;
  /** What names the device; null if the callback names none. */
  device: string | null;
  network: string;
  placement: string;
  adFormat: string;
  /** Lower-case ISO 3166 code. */
  country: string | null;
  /** Epoch milliseconds, not after `now`. */
  occurredAt: number;
  warnings: Fault[];
};

const MAX_ID = 400;
const MAX_NAME = 256;
const UNKNOWN = 'unknown';

const DIVISOR = { unit: 1n, micros: 1_000_000n, ecpm: 1_000n } as const satisfies Record<
  ImpressionTemplate['scale'],
  bigint
>;

function pastTime(text: string, now: number): number | null {
  const at = readEpochOrText(text);
  return at !== null && at >= EARLIEST && at <= now ? at : null;
}

/** Reads a callback as its application's template says. Throws `invalid_request` that names the parameter if it has no id or no amount. */
export function readCallback(
  template: ImpressionTemplate,
  query: Readonly<Record<string, string>>,
  now: number,
): Impression {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  const sentAs = (name: string): string => (Object.hasOwn(query, name) ? query[name] : '') ?? '';
  const parameter = (name: string | null, reasonOf = placeholderName): string => {
    if (name === null) return '';
    const plain = sentAs(name).trim().toWellFormed().replaceAll('\0', '');
    const fault = placeholderFault(name, plain, reasonOf);
    if (fault) warnings.push(fault);
    return fault ? '' : plain;
  };
  const id = parameter(template.id, placeholderId);
  // A platform does not send a callback again, so one whose id says nothing is counted rather than lost.
  if (sentAs(template.id).trim() === '')
    faults.push({ path: template.id, message: 'is required: it identifies the impression' });
  if (id.length > MAX_ID) faults.push({ path: template.id, message: `must be at most ${MAX_ID} characters` });
  const sent = parameter(template.amount);
  const decimal = readDecimal(sent);
  const amount = Number(decimal);
  let nanos = 0n;
  if (decimal === null) {
    faults.push({
      path: template.amount,
      message: sent === '' ? 'is required: it is the amount' : 'must be a number',
    });
  } else if (amount < 0) {
    warnings.push({ path: template.amount, message: 'is negative; revenue counted as 0' });
  } else {
    const scaled = nanosOf(decimal);
    nanos = scaled === null ? BigInt(NANOS_LIMIT) : divideRounded(scaled, DIVISOR[template.scale]);
    if (nanos >= BigInt(NANOS_LIMIT)) faults.push({ path: template.amount, message: 'is too large' });
  }
  const currency = (parameter(template.currency) || template.default_currency).toLowerCase();
  if (!isCurrencyOfAnyDay(currency)) {
    faults.push({
      path: template.currency ?? '',
      message: 'must be a currency code (ISO 4217), such as eur',
    });
  }
  if (faults.length > 0) throw invalidRequest(faults);
  const named = parameter(template.country);
  const country = toCountryCode(named);
  if (country === null && template.country !== null && named !== '') {
    warnings.push({ path: template.country, message: `${COUNTRY_CODE_FAULT}; ignored` });
  }
  const time = parameter(template.time);
  const occurredAt = time === '' ? now : pastTime(time, now);
  const untimely = currencyDayFault(currency, iso(occurredAt ?? now).slice(0, 10));
  if (untimely !== null) {
    nanos = 0n;
    warnings.push({ path: template.currency ?? '', message: `${untimely}; revenue counted as 0` });
  }
  if (occurredAt === null && template.time !== null) {
    warnings.push({ path: template.time, message: 'is not a time in the past; dated when received' });
  }
  const shortened = (of: string | null, max: number) => {
    const sent = parameter(of);
    if (of !== null && sent.length > max)
      warnings.push({ path: of, message: `is longer than ${max} characters; shortened` });
    return sent.slice(0, max).toWellFormed();
  };
  const name = (of: string | null) => shortened(of, MAX_NAME) || UNKNOWN;
  return {
    id: id || null,
    nanos: Number(nanos),
    currency,
    device: parameter(template.device, placeholderId) || null,
    network: toNetwork(shortened(template.network, MAX_NETWORK_CHARACTERS)),
    placement: name(template.placement),
    adFormat: name(template.ad_format).toLowerCase(),
    country,
    occurredAt: occurredAt ?? now,
    warnings,
  };
}
