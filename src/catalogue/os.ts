/** Families of operating systems. A phone never changes its family. */
export const OS_FAMILIES = ['android', 'ios', 'windows', 'macos', 'linux', 'other'] as const;
export type OsFamily = (typeof OS_FAMILIES)[number];
