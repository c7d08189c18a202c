import type { CostDimension } from '#catalogue';

/** `start` and `end` are of a row that covers several days. */
export type CostField =
  | 'date'
  | 'start'
  | 'end'
  | 'campaign'
  | 'adset'
  | 'creative'
  | CostDimension
  | 'currency'
  | 'amount'
  | 'impressions'
  | 'clicks';

/** The headings that may hold each field: the first one that a file has is used. */
export type CostColumns = Partial<Record<CostField, readonly string[]>>;

/** What is known of a network's exports. Headings are in lower case. A currency in one, as in `Amount spent (EUR)`, is read too. */
export type CostFormatDefinition = {
  label: string;
  /** What the headings were compared with, in Markdown. */
  checkedAgainst: string;
  /** The network of the rows of a file that only this format fits. */
  network?: string;
  /** Headings that no other network's exports have. */
  marks?: readonly string[];
  /** Whether its exports begin with lines of text: the report's name, its days. */
  isTitled?: boolean;
  columns: CostColumns;
};
