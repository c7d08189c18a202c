import type { PropsWithChildren } from 'hono/jsx';
import { Notice } from './parts.tsx';

/** A secret that was just created. Its page shows it once: see `redirectShowing`. */
export const CopyNow = ({
  text,
  label,
  children,
}: PropsWithChildren<{ text: string | undefined; label: string }>) =>
  text === undefined ? null : (
    <Notice kind="good">
      <p>{children}</p>
      <Copyable text={text} label={label} />
    </Notice>
  );

/** A button that copies a text. It appears if scripts can copy. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => (
  <button type="button" class="quiet" data-copy={text} hidden aria-label={`Copy ${label}`}>
    Copy
  </button>
);

/** Text with a copy button. The text can be selected in any case. */
export const Copyable = ({
  text,
  label,
  lines = false,
}: {
  text: string;
  label: string;
  lines?: boolean;
}) => (
  <div class={lines ? 'copyable lines' : 'copyable'}>
    {lines ? (
      <pre tabindex={0}>
        <code>{text}</code>
      </pre>
    ) : (
      <code>{text}</code>
    )}
    <CopyButton text={text} label={label} />
  </div>
);
