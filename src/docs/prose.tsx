const PIECES = /(`[^`]+`|\[[^\]]+\]\([^)]+\))/;

/** A line of text with `code` and [links](…). */
export const Inline = ({ text }: { text: string }) => (
  <>
    {text.split(PIECES).map((piece) => {
      if (piece.startsWith('`')) return <code>{piece.slice(1, -1)}</code>;
      const [, label, href] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? [];
      return href ? <a href={href}>{label}</a> : piece;
    })}
  </>
);

/** Paragraphs and lists, as descriptions of operations have them. */
export const Prose = ({ text }: { text: string }) => (
  <>
    {text.split('\n\n').map((block) => {
      const lines = block.split('\n');
      return lines.every((line) => line.startsWith('- ')) ? (
        <ul>
          {lines.map((line) => (
            <li>
              <Inline text={line.slice(2)} />
            </li>
          ))}
        </ul>
      ) : (
        <p>
          <Inline text={block} />
        </p>
      );
    })}
  </>
);
