/** What is known of an attributed install that may be a sign of fraud. Times are epoch milliseconds; null if unknown. */
export type DoubtFacts = {
  /** The credited click. Null for an impression, and for a creative that was named without a click. */
  clicked_at: number | null;
  first_opened_at: number;
  /** The times of Google's server. */
  play_clicked_at: number | null;
  play_install_began_at: number | null;
  /** The number of devices that had named the click before. */
  earlier_installs: number | null;
  /**
   * The clicks from the address of the credited click within the probabilistic window, itself included; at most 200 are counted. Null if they were
   * not counted: the address is unknown, or forgotten with the window, or the click was guessed at another address than the device's own.
   */
  address_clicks: number | null;
  /**
   * A day of the creative of the click: when the install comes, the day before; in reports, its own day. Null if it had too few clicks to be
   * judged. Missing in explanations of earlier releases.
   */
  source_day?: SourceDayFacts | null;
};

/** What is known of a day of a creative that may have click flooding. */
export type SourceDayFacts = {
  day: string;
  clicks: number;
  installs: number;
  /** The median of installs / clicks over the days that it was compared with. */
  usual_conversion: number;
  /** From the click to the first open; null without installs. */
  median_seconds: number | null;
  p95_seconds: number | null;
};

/** `allow`: the rule is not asked. `flag`: the install counts as before, and as doubted. `exclude`: it counts as organic, too. */
export const DOUBT_ACTIONS = ['allow', 'flag', 'exclude'] as const;
export type DoubtAction = (typeof DOUBT_ACTIONS)[number];

/** A reason to doubt an install. */
export type DoubtRule = {
  /** In settings, answers and stored explanations. It never changes. */
  id: string;
  /** Raised when the rule decides otherwise about the same facts. */
  version: number;
  label: string;
  threshold: { label: string; fallback: number; min: number; max: number } | null;
  /**
   * Completes the sentence "The install is doubtful: …"; null if it is not. Undefined if the facts do not tell, which is not a clean result.
   */
  check: (facts: DoubtFacts, threshold: number) => string | null | undefined;
};
