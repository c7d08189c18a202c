import type { PropsWithChildren } from 'hono/jsx';
import { Icon } from './icons.tsx';

/** A caveat or definition behind a mark. `about` says what it explains, for people who cannot see where it stands. */
export const Info = ({ about, children }: PropsWithChildren<{ about: string }>) => (
  <details class="info" data-pop>
    <summary aria-label={`About ${about}`}>
      <Icon name="info" />
    </summary>
    <div>{children}</div>
  </details>
);
