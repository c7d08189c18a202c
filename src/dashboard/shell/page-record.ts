import { type Context, Hono } from 'hono';
import type { Fault } from '#http';
import type { Person, Role } from '#members';

export type DashboardEnv = {
  Bindings: Env;
  Variables: {
    requestId: string;
    person: Person;
    /** The page that the request is for, if its address is one's. */
    page: PageRecord | undefined;
    pages: readonly PageRecord[];
    /** The page of the form that was sent, which shows it again if it is refused. */
    formPage: FormPage | undefined;
    /** The answer of another page. */
    openPage: (request: Request) => Promise<Response>;
  };
};
export type DashboardContext = Context<DashboardEnv>;
/** A page with a form, as it was submitted. */
export type FormPage = (
  c: DashboardContext,
  submitted: { values: Record<string, string>; faults: readonly Fault[] },
) => Response | Promise<Response>;

/** The groups of the navigation, in its order. The first has no heading. */
export const NAVIGATION_GROUPS = ['', 'Acquire', 'Understand', 'Operate'] as const;

/** A link in the navigation. */
type PageLink = {
  group: (typeof NAVIGATION_GROUPS)[number];
  /** The page's title if left out. */
  label?: string;
  /** An SVG path, drawn with lines on a square of 16. */
  icon: string;
  /** Whether the link keeps the application, period and currency: it does if left out. */
  keepsView?: boolean;
  /** What the link opens the page with, such as `?by=network`. */
  query?: string;
};

/** Everything that the dashboard knows of a page. `src/dashboard/pages.ts` lists the records. */
export type PageRecord = {
  /** Where its routes begin: `/costs` for `/costs` and `/costs/rates`. */
  path: string;
  title: string;
  /** The least role that may open it, `viewer` if left out; null if people without a session may. A change may require a higher role. */
  opens?: Role | null;
  links?: readonly PageLink[];
  /** Whether it can be saved as a view and shared: for pages that only show figures. */
  savable?: boolean;
  /** The most bytes that a form may send, if the usual limit is too low. */
  maxFormBytes?: number;
  /** With paths that are relative to `path`. */
  routes: Hono<DashboardEnv>;
};

/** The routes of a page, still without any. */
export const pageRoutes = () => new Hono<DashboardEnv>();

/** Whether a path is that of a page that can be saved as a view. */
export const isSavable = (pages: readonly PageRecord[], path: string): boolean =>
  pages.some((page) => page.savable && page.path === path);
