// Which section of docs/operations.md says what to do about a problem. Pure.

const PAGE = 'docs/operations.md';

/** By the beginnings of sentences, or a part of them: the section about it. */
const SECTIONS: readonly (readonly [problem: RegExp, section: string])[] = [
  [/^The database does not respond/, 'the-database-does-not-respond'],
  [/^The database was restored/, 'restore-d1'],
  [/^Counting has stopped/, 'lost-stores'],
  [/^A counter has lost what it stored/, 'restore-one-application'],
  [/^The bucket for raw events (?:was emptied|does not respond)/, 'lost-stores'],
  [/ wait in the bucket: the database did not accept them/, 'long-outages'],
  [
    /^(?:Counting does not respond|Counting accepts neither|Events have waited for .* to be counted)/,
    'counting-is-behind',
  ],
  [/^The application is being restored/, 'restore-one-application'],
  [/ in the queue \S+ to be delivered/, 'several-event-queues'],
  [/^EVENT_QUEUES includes queues/, 'several-event-queues'],
  [/^Raw events could not be written/, 'raw-events-are-not-exported'],
  [/^(?:The database|A counter) holds /, 'a-store-fills-up'],
  [/^(?:Scheduled work|Hourly work) /, 'scheduled-work-does-not-run'],
  [/^Exchange rates /, 'exchange-rates'],
  [/^(?:There is no complete snapshot|The last complete snapshot)/, 'snapshots-are-missing'],
  [/^Old figures /, 'old-figures-stay-in-the-database'],
  [/^A setting is invalid/, 'settings'],
  [/^[\d,]+ messages? (?:is|are) parked/, 'parked-messages'],
  [/^(?:The connector|The credentials of the connector) /, 'connectors-and-destinations'],
  [/^The destination /, 'connectors-and-destinations'],
  [/^A store has a newer format/, 'roll-back'],
];

/** The section of docs/operations.md about a problem, which is a sentence of Health. */
export function runbookOf(problem: string): string {
  const [, section = 'what-to-alert-on'] = SECTIONS.find(([pattern]) => pattern.test(problem)) ?? [];
  return `${PAGE}#${section}`;
}
