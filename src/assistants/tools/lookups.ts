import * as z from 'zod';
import { MAX_EXPLAINED, MAX_REFUSED } from '#attribution';
import { AttributionExplained } from '#devices/answers';
import { dayIn, iso } from '#lib/time';
import { askApi, cut, defineTool } from './tool.ts';

const page = {
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().optional().meta({ description: '`next_cursor` of the page before.' }),
};

const queryOf = (fields: Record<string, string | number | undefined>) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

const next_cursor = z.string().nullable();
const restOf = (cursor: string | null) =>
  cursor === null ? null : 'There are more. For the next, send next_cursor as cursor.';

const ApplicationPage = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      timezone: z.string(),
      currency: z.string(),
      data_collection: z.boolean(),
      created_at: z.string(),
    }),
  ),
  next_cursor,
});
const application = ApplicationPage.shape.data.element;

export const listApplicationsTool = defineTool({
  name: 'list_applications',
  title: 'List applications',
  description:
    "The team's applications: the id that other tools need, time zone, reporting currency and today's date there.",
  input: z.object(page),
  output: z.object({
    data: z.array(z.object({ ...application.shape, today: z.iso.date() })),
    next_cursor,
    cut,
  }),
  async run(ask, asked) {
    const found = ApplicationPage.parse(await askApi(ask, '/v1/applications', queryOf(asked)));
    const now = Date.now();
    return {
      ...found,
      data: found.data.map((own) => ({ ...own, today: dayIn(own.timezone, now) })),
      cut: restOf(found.next_cursor),
    };
  },
});

const NamePage = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      adset: z.string().optional(),
      adset_id: z.string().optional(),
      campaign: z.string().optional(),
      campaign_id: z.string().optional(),
      network: z.string().nullish(),
      archived: z.boolean().optional(),
      tracking_link: z.string().optional(),
      created_at: z.string(),
    }),
  ),
  next_cursor,
});

const KINDS = { creative: '/v1/creatives', adset: '/v1/adsets', campaign: '/v1/campaigns' } as const;

export const searchTool = defineTool({
  name: 'search',
  title: 'Search creatives, ad sets and campaigns',
  description:
    'Creatives, ad sets or campaigns of an application by name, oldest first. Their ids are what the filters creative_id, adset_id and campaign_id of reports take, and `a` and `b` of compare.',
  input: z.object({
    application_id: z.string(),
    kind: z.enum(Object.keys(KINDS) as (keyof typeof KINDS)[]).default('creative'),
    q: z.string().optional().meta({
      description: 'A text in any case in the name, or in that of its ad set or campaign. Without it, all.',
    }),
    ...page,
  }),
  output: z.object({ ...NamePage.shape, cut }),
  async run(ask, { kind, ...asked }) {
    const found = NamePage.parse(await askApi(ask, KINDS[kind], queryOf(asked)));
    return { ...found, cut: restOf(found.next_cursor) };
  },
});

/** What the service did not keep of an explanation cannot be asked for. */
function cutOf({ refused_clicks, candidates }: z.infer<typeof AttributionExplained>): string | null {
  const kept = [
    refused_clicks.length >= MAX_REFUSED && `the ${MAX_REFUSED} newest refused clicks`,
    candidates.length >= MAX_EXPLAINED && `the ${MAX_EXPLAINED} likeliest candidates`,
  ].filter((part) => part !== false);
  return kept.length === 0
    ? null
    : `Only ${kept.join(' and ')} are kept: there may have been more, which cannot be asked for.`;
}

export const explainDeviceTool = defineTool({
  name: 'explain_device',
  title: 'Explain the attribution of a device',
  description:
    'Why a device is attributed as it is, by one of its tokens: the method, its confidence, the clicks that were considered and refused, and what makes the install doubtful.',
  input: z.object({
    token: z.string().min(1).meta({ description: "The device's token, as /fetch-token answered it." }),
  }),
  output: z.object({
    ...AttributionExplained.shape,
    counted_through: z.iso.datetime().meta({
      description: 'When it was read. A device is read as it is stored, so nothing waits to be counted.',
    }),
    cut,
  }),
  async run(ask, { token }) {
    const path = `/v1/devices/${encodeURIComponent(token)}/attribution`;
    const counted_through = iso(Date.now());
    const explained = AttributionExplained.parse(await askApi(ask, path, new URLSearchParams()));
    return { ...explained, counted_through, cut: cutOf(explained) };
  },
});
