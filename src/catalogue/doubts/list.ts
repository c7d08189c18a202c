import { clickFlooding } from './flooding.ts';
import type { DoubtAction, DoubtFacts, DoubtRule } from './rule.ts';
import { busyAddress, clickAfterInstallBegan, differentClick, fastInstall, repeatedClick } from './rules.ts';

export const DOUBT_RULES: readonly DoubtRule[] = [
  clickAfterInstallBegan,
  fastInstall,
  repeatedClick,
  busyAddress,
  differentClick,
  clickFlooding,
];

/** What an application decides about rules, by their ids. What it does not decide is as in `settingOf`. */
export type DoubtSettings = Readonly<
  Record<string, { action?: DoubtAction | undefined; threshold?: number | undefined }>
>;

export const settingOf = (
  { id, threshold }: DoubtRule,
  settings: DoubtSettings,
): { action: DoubtAction; threshold: number | null } => ({
  action: settings[id]?.action ?? 'flag',
  threshold: threshold && (settings[id]?.threshold ?? threshold.fallback),
});

/** A rule that doubts an install, in the form that is stored to explain it. */
export type Doubt = {
  rule: string;
  version: number;
  action: Exclude<DoubtAction, 'allow'>;
  threshold: number | null;
  /** Completes the sentence "The install is doubtful: …". */
  reason: string;
};

/** Asks every rule that is not allowed. `notChecked` are the ids of those that the facts do not answer. */
export function doubtsOf(
  facts: DoubtFacts,
  settings: DoubtSettings,
): { doubts: Doubt[]; notChecked: string[] } {
  const doubts: Doubt[] = [];
  const notChecked: string[] = [];
  for (const rule of DOUBT_RULES) {
    const { action, threshold } = settingOf(rule, settings);
    if (action === 'allow') continue;
    const reason = rule.check(facts, threshold ?? 0);
    if (reason === undefined) notChecked.push(rule.id);
    else if (reason !== null)
      doubts.push({ rule: rule.id, version: rule.version, action, threshold, reason });
  }
  return { doubts, notChecked };
}
