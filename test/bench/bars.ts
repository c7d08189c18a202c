/** The free plan takes 3 MB. Some 90 are the reader of .xlsx files, which only an upload of one loads. */
export const MAX_BUNDLE_KIB = 940;

/** What each figure has to hold; figures without a bar explain others. */
const TARGETS: Record<string, ['>=' | '<=', number]> = {
  d1_statements_per_warm_webhook: ['<=', 0],
  webhook_vs_enqueue_only: ['>=', 1.4],
  webhook_vs_bare: ['>=', 0.5],
  queue_ops_per_event_single: ['<=', 0.6],
  redirect_vs_bare: ['>=', 0.6],
  store_redirect_vs_bare: ['>=', 0.5],
  fetch_token_vs_two_d1_round_trips: ['>=', 0.9],
  fetch_token_rows: ['<=', 4],
  batch_events_per_s: ['>=', 10_000],
  counter_events_per_s: ['>=', 40_000],
  counter_speed_ratio_at_3m: ['>=', 0.9],
  deliveries_per_s: ['>=', 1_000],
  burst_seconds_until_complete: ['<=', 15],
  counted_vs_postgres_single: ['>=', 0.85],
  counted_vs_postgres_batch: ['>=', 0.3],
  counted_cpu_vs_postgres_single: ['<=', 0.9],
  rows_written_per_event_single: ['<=', 0.35],
  rows_written_per_event_batch: ['<=', 0.3],
  neighbour_webhook_ratio_receivers: ['<=', 2],
  neighbour_report_ratio_receivers: ['<=', 2],
  counting_ratio_beside_broken_receivers: ['<=', 1.25],
  delivering_ratio_beside_broken_receivers: ['<=', 1.25],
  neighbour_webhook_ratio_reports: ['<=', 2],
  neighbour_report_ratio_reports: ['<=', 2],
  // With 20 callers of each.
  neighbour_webhook_ratio_preview: ['<=', 3],
  neighbour_report_ratio_preview: ['<=', 3],
  neighbour_webhook_ratio_share: ['<=', 3],
  neighbour_report_ratio_share: ['<=', 3],
  neighbour_webhook_ratio_mcp: ['<=', 3],
  neighbour_report_ratio_mcp: ['<=', 3],
  neighbour_webhook_ratio_export: ['<=', 3],
  neighbour_report_ratio_export: ['<=', 3],
  neighbour_webhook_ratio_events: ['<=', 3],
  neighbour_report_ratio_events: ['<=', 3],
  small_rows_per_event_watched: ['<=', 1],
  small_rows_per_event_unwatched: ['<=', 0.12],
  rows_written_per_event_single_300k_devices: ['<=', 1.3],
  rows_written_per_event_batch_300k_devices: ['<=', 1.3],
  rows_written_ratio_20_countries_vs_1: ['<=', 1.25],
  // A year's reports, first asked.
  report_year_by_day_first_ms: ['<=', 440],
  report_year_by_creative_first_ms: ['<=', 1_400],
  report_year_by_creative_in_one_country_first_ms: ['<=', 1_960],
  report_year_by_creative_and_country_first_ms: ['<=', 5_200],
  report_ratio_by_country: ['<=', 1.5],
  report_ratio_by_creative_in_one_country: ['<=', 1.5],
  report_ratio_by_creative_and_country: ['<=', 1.5],
  report_ratio_by_country_of_one_creative: ['<=', 1.5],
  usd_per_million_single: ['<=', 0.8],
  usd_per_million_single_alone: ['<=', 1.95],
  usd_per_million_batch: ['<=', 0.4],
  // A database has 10 GB.
  d1_bytes_after_year: ['<=', 1_000_000_000],
  hot_bytes_per_event: ['<=', 30],
  lake_bytes_per_event: ['<=', 60],
  rows_read_16_consumers_vs_1: ['<=', 1.2],
  report_ms_ratio_1m_vs_10k: ['<=', 1.3],
  report_roas_ms_ratio_1m_vs_10k: ['<=', 2],
  report_ms_ratio_beside_busy_counter: ['<=', 1.5],
  client_totals_ms: ['<=', 100],
  erase_device_ms: ['<=', 2_000],
  settle_heap_mb_200k: ['<=', 64],
  settle_heap_mb_20k_of_6_kb: ['<=', 64],
  bundle_gzip_kib: ['<=', MAX_BUNDLE_KIB],
  startup_cpu_ms: ['<=', 35],
};

/** Bars of all figures whose names begin so: each page of the dashboard. */
const PREFIXED: Record<string, ['>=' | '<=', number]> = { page_ms_: ['<=', 250], page_kb_: ['<=', 300] };

const barOf = (name: string) =>
  TARGETS[name] ?? Object.entries(PREFIXED).find(([prefix]) => name.startsWith(prefix))?.[1];

/** `>= 0.85`, and whether it was missed; empty for a figure without a bar. */
export function againstBar(name: string, value: number): string {
  const [sign, bar] = barOf(name) ?? [];
  if (bar === undefined) return '';
  const isMet = sign === '>=' ? value >= bar : value <= bar;
  return `${sign} ${bar}${isMet ? '' : '  missed'}`;
}
