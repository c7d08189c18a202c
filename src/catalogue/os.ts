/** The families of operating systems between which no phone changes. */
export const OS_FAMILIES = ['android', 'ios', 'windows', 'macos', 'linux', 'other'] as const;
export type OsFamily = (typeof OS_FAMILIES)[number];
