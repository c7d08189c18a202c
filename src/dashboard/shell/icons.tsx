/** Drawn with lines on a square of 16. */
const PATHS = {
  overview: 'M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z',
  views: 'M4 2h8v12l-4-3-4 3z',
  creatives: 'M2 3h12v10H2zM2 10l3.5-3.5 3 3 2-2L14 11',
  networks: 'M8 2v4M8 10v4M2 8h4M10 8h4M8 6a2 2 0 100 4 2 2 0 000-4',
  costs:
    'M8 2v12M11 4.5C10.5 3.5 9.4 3 8 3 6.3 3 5 3.9 5 5.3 5 8.5 11 7.2 11 10.5 11 12 9.7 13 8 13c-1.5 0-2.7-.6-3.2-1.7',
  skan: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM6 8l1.5 1.5L10.5 6.5',
  compare: 'M5 3v10M11 3v10M2 6l3-3 3 3M8 10l3 3 3-3',
  breakdown: 'M2 13V8M6 13V3M10 13V6M14 13v-3',
  retention: 'M2 2h3v3H2zM6.5 2h3v3h-3zM11 2h3v3h-3zM2 6.5h3v3H2zM6.5 6.5h3v3h-3zM2 11h3v3H2z',
  ltv: 'M2 13C6 13 6 4 14 3',
  funnels: 'M2 3h12l-4.5 5.5V13l-3-1.5V8.5z',
  ads: 'M2 4h12v8H2zM7 6.5v3l2.5-1.5z',
  debugger: 'M5 5l-3 3 3 3M11 5l3 3-3 3M9 3L7 13',
  alerts: 'M4 11V7a4 4 0 018 0v4l1 1H3zM7 14h2',
  notes: 'M3 2h10v12H3zM6 6h4M6 9h4',
  health: 'M1 8h3l2-5 3 10 2-5h4',
  settings: 'M2 4h12M2 8h12M2 12h12M5 2.5v3M10 6.5v3M6 10.5v3',
  search: 'M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9M10.5 10.5L14 14',
  info: 'M8 2a6 6 0 100 12A6 6 0 008 2M8 7.5v3.5M8 5v.2',
  share: 'M8 9V2M5.5 4.5L8 2l2.5 2.5M3 8v6h10V8',
  menu: 'M2 4h12M2 8h12M2 12h12',
  chevron: 'M4 6l4 4 4-4',
  close: 'M4 4l8 8M12 4l-8 8',
  collapse: 'M2 3h12v10H2zM6 3v10',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a text that says the same. */
export const Icon = ({ name, className = 'i' }: { name: IconName; className?: string }) => (
  <svg class={className} viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
