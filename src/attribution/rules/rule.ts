import type { OsFamily } from '#catalogue';
import type { DeviceReport } from '../device-report.ts';
import type { Size } from '../evidence.ts';

/** What is known about a click, or about an impression, whose id begins with `imp_`. Times are epoch milliseconds. */
export type Click = {
  id: string;
  creativeId: string;
  clickedAt: number;
  osFamily: OsFamily;
  osVersion: string | null;
  deviceModel: string | null;
  ipHash: string | null;
  timezone: string | null;
  screen: Size | null;
  pixelRatio: number | null;
  /** Lower-case ISO 3166 code, as reported by the edge. */
  country: string | null;
  /** The network that the link or its query parameters name. */
  network: string | null;
  /** Whether a device was already credited with it. */
  credited: boolean;
  /** The number of devices that named it before. */
  namedInstalls: number;
};

/** A device as `/fetch-token` describes it. */
export type Device = {
  osFamily: OsFamily;
  osVersion: string | null;
  /** Every name of its model. */
  models: string[];
  ipHash: string | null;
  timezone: string | null;
  window: Size | null;
  dpi: number | null;
  acquiredAt: number;
};

export type Windows = { clickMs: number; probabilisticMs: number; viewThroughMs: number };

export const isImpressionId = (id: string): boolean => id.startsWith('imp_');

/** `now` is the time of the request. */
export type Circumstances = { device: Device; windows: Windows; now: number };

/** What the rules decide from. No filter refused any of its clicks. */
type Case = Circumstances & {
  /** The clicks that the device named, by the rule that found the name. */
  named: readonly { method: string; click: Click }[];
  /** The creatives of this application that the device named, by the rule that found the name. */
  creatives: Readonly<Partial<Record<string, string>>>;
  /** The clicks and the impressions that may be the device's. */
  clicks: readonly Click[];
  impressions: readonly Click[];
};

export type Fact = 'ip' | 'timezone' | 'os_version' | 'model' | 'screen' | 'density';

/** A click that was weighed, in the form that is stored to explain the outcome. */
export type Candidate = {
  click_id: string;
  creative_id: string;
  clicked_at: number;
  /** Bits of evidence: the sum over all facts. */
  score: number;
  /** The probability that this click led to the device, among all candidates and the case that none did. */
  probability: number;
  facts: Partial<Record<Fact, number>>;
};

/** What a rule decides, in the form that is stored. With `creative_id` null, the next rule is asked. */
export type MatchOutcome = {
  /** 0 to 1: the probability that the outcome is right; 1 if a click or creative was named. */
  confidence: number;
  creative_id: string | null;
  click_id: string | null;
  /** Whether another click matches the device equally well. */
  ambiguous: boolean;
  /** The number of devices that had named this click before. One click leads to one install, so any is a sign of fraud. */
  earlier_installs: number;
  candidates: Candidate[];
};

/** One way to find the creative of a device. Rules are asked in the order of their list, and the first that finds one decides. */
export type MatchRule = {
  /** In answers, raw event files and stored explanations. It never changes. */
  method: string;
  /** What people call the method. */
  label: string;
  /** One sentence: how the creative was found. */
  reason: string;
  /** Whether it picks a click or impression that the device did not name. Such a one leads to one device at most. */
  guesses?: true;
  /** The network of its creatives, if the method alone tells. */
  network?: string;
  /** The public id of a click that the device names. The click is then in `named`. */
  clickIdIn?: (report: DeviceReport) => string | null | undefined;
  /** The last segment of a tracking link that the device names. Its creative is then in `creatives`. */
  creativeTokenIn?: (report: DeviceReport) => string | null | undefined;
  match: (one: Case) => MatchOutcome | null;
};

/** A reason why a click or impression leads to no device. It is then in the explanation of the device if it could have mattered. */
export type ClickFilter = {
  /** In answers and stored explanations. It never changes. */
  id: string;
  /**
   * Completes the sentence "It was not counted because …". Null if the click counts. `named`: the device named the click itself.
   */
  refuses: (click: Click, one: Circumstances & { named: boolean }) => string | null;
};
