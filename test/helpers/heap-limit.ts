/**
 * Options of Node that limit what stays alive to some megabytes: with a small young generation, and without collecting beside the program,
 * nor giving up because collecting takes most of the time, both of which depend on how busy the machine is.
 */
export const heapLimit = (megabytes: number): string[] => [
  `--max-old-space-size=${megabytes}`,
  '--max-semi-space-size=2',
  '--single-threaded-gc',
  '--no-detect-ineffective-gcs-near-heap-limit',
];
