import { adjust } from './sources/adjust.ts';
import { appsflyer } from './sources/appsflyer.ts';
import type { Source } from './sources/exported.ts';

/** The services whose exports have a reader. */
export const VENDORS = { appsflyer, adjust } as const satisfies Record<string, Source>;
export type VendorName = keyof typeof VENDORS;
export const isVendor = (name: string): name is VendorName => Object.hasOwn(VENDORS, name);
