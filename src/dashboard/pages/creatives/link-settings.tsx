import type { Creative } from '#creatives/answers';
import type { FormField } from '../../forms/field.tsx';
import { PostForm } from '../../forms/fields.tsx';
import type { Submitted } from '../../forms/form.ts';
import { Copyable } from '../../shell/copyable.tsx';
import { FoldedCard } from '../../shell/parts.tsx';

/** The form's text as the team API's schema has it. */
export function toLinkChanges(values: Record<string, string>) {
  const text = (name: string) => values[name]?.trim() || null;
  const [title, description, image_url] = [
    text('preview.title'),
    text('preview.description'),
    text('preview.image_url'),
  ];
  const hasPreview = title !== null || description !== null || image_url !== null;
  return { deep_link: text('deep_link'), preview: hasPreview ? { title, description, image_url } : null };
}

const valuesOf = ({ deep_link, preview }: Creative): Record<string, string> => ({
  deep_link: deep_link ?? '',
  'preview.title': preview?.title ?? '',
  'preview.description': preview?.description ?? '',
  'preview.image_url': preview?.image_url ?? '',
});

const FIELDS: readonly FormField[] = [
  { label: 'Deep link', name: 'deep_link', hint: 'What the app opens, such as game://levels/3 or /levels/3' },
  { label: 'Preview title', name: 'preview.title', hint: 'Empty: what the store shows' },
  { label: 'Preview description', name: 'preview.description', hint: 'At most 300 characters' },
  { label: 'Preview image', name: 'preview.image_url', hint: 'https://…' },
];

/** `submitted`: what was sent with the form. `search`: the query of its page. */
export type CreativeFormProps = { creative: Creative; submitted: Submitted; search: string };

/** What the creative's link opens in an installed app, and what messengers show of it. */
export const LinkSettings = ({ creative, submitted, search }: CreativeFormProps) => {
  const { values = valuesOf(creative), faults = [] } = submitted;
  return (
    <FoldedCard title="Deep link and preview" id="link" open={faults.length > 0}>
      {creative.app_link === null ? (
        <p class="muted">
          To open the installed app, give the application its app identities under Settings → Applications.
        </p>
      ) : (
        <Copyable text={creative.app_link} label="link that opens the app" />
      )}
      <PostForm
        to={`/creatives/${creative.id}/link${search}#link`}
        button="Save"
        fields={FIELDS}
        values={values}
        faults={faults}
      />
    </FoldedCard>
  );
};
