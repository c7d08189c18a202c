import * as z from 'zod';
import { faults } from '#http/answers';

/** Source: developer.apple.com/documentation/bundleresources/applinks */
export const AppleFile = z.object({
  applinks: z.object({
    details: z.array(
      z.object({ appIDs: z.array(z.string()), components: z.array(z.object({ '/': z.string() })) }),
    ),
  }),
});
export type AppleFile = z.input<typeof AppleFile>;

/** Source: developers.google.com/digital-asset-links/v1/create-statement */
export const AndroidFile = z.array(
  z.object({
    relation: z.array(z.string()),
    target: z.object({
      namespace: z.literal('android_app'),
      package_name: z.string(),
      sha256_cert_fingerprints: z.array(z.string()),
    }),
    relation_extensions: z.record(
      z.string(),
      z.object({
        dynamic_app_link_components: z.array(z.object({ '/': z.string(), exclude: z.boolean().optional() })),
      }),
    ),
  }),
);
export type AndroidFile = z.input<typeof AndroidFile>;

/** The answer to a click or impression that a network's server reports. */
export const ServerSideRecorded = z.object({
  success: z.literal(true),
  counted: z.boolean(),
  id: z.string().nullable().meta({
    description: 'The signed id of the click, to pass on as `click_id`; or the id of the impression.',
  }),
  reason: z.string().optional().meta({ description: 'Why it was not counted.' }),
  warnings: faults.optional().meta({
    description:
      'Parameters that say nothing or cannot be kept, and were left out, or a time that was replaced. Present only if there are any.',
  }),
});
export type ServerSideRecorded = z.input<typeof ServerSideRecorded>;
