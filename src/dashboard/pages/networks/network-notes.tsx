import { plainText } from '../../shell/words.ts';

/** What is to be known of a network, and what of it nobody has verified. */
export const NetworkNotes = ({
  notes,
  unverified,
}: {
  notes: readonly string[];
  unverified: readonly string[];
}) => (
  <ul class="muted">
    {notes.map((note) => (
      <li>{plainText(note)}</li>
    ))}
    {unverified.map((note) => (
      <li>Not verified: {plainText(note)}</li>
    ))}
  </ul>
);
