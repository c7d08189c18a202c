/** Drawn with lines on a square of 16. */
const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9M10.5 10.5L14 14',
  info: 'M8 2a6 6 0 100 12A6 6 0 008 2M8 7.5v3.5M8 5v.2',
  share: 'M8 9V2M5.5 4.5L8 2l2.5 2.5M3 8v6h10V8',
  menu: 'M2 4h12M2 8h12M2 12h12',
  chevron: 'M4 6l4 4 4-4',
  close: 'M4 4l8 8M12 4l-8 8',
  collapse: 'M2 3h12v10H2zM6 3v10',
} as const;

/** A picture beside a text that says the same. */
export const Drawing = ({ path, className = 'i' }: { path: string; className?: string }) => (
  <svg class={className} viewBox="0 0 16 16" aria-hidden="true">
    <path d={path} />
  </svg>
);

/** One of the pictures that pages share. */
export const Icon = ({ name, className = 'i' }: { name: keyof typeof PATHS; className?: string }) => (
  <Drawing path={PATHS[name]} className={className} />
);
