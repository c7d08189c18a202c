import { MAPPED_COLUMNS } from '../import/sources/mapped.ts';
import { VENDORS } from '../import/vendors.ts';
import { exampleEntries } from './map-examples.ts';

/** What the readers' fields are called in the documentation, if it is not their name with spaces. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  activity: 'kind of activity',
  adset: 'ad set',
  dollars: 'revenue in US dollars',
  installed: 'install time',
  organic: 'organic or not',
  os: 'OS',
  os_version: 'OS version',
  primary: 'primary attribution',
  reporting_revenue: 'revenue in the reporting currency',
  time: 'event time',
  tracker: 'network and names in one',
};

const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

function columnsText(): string {
  const rows = Object.entries(VENDORS).flatMap(([vendor, { columns, required }]) =>
    Object.entries(columns).map(([field, names]) => {
      const isRequired = (required as readonly string[]).includes(field);
      const name = FIELD_NAMES[field] ?? field.replaceAll('_', ' ');
      return `| \`${vendor}\` | ${name}${isRequired ? ' (required)' : ''} | ${code(names)} |`;
    }),
  );
  return ['| `--from` | what | columns |', '|---|---|---|', ...rows].join('\n');
}

const mappedText = () =>
  [
    '| in `columns` | what |',
    '|---|---|',
    ...Object.entries(MAPPED_COLUMNS).map(([name, what]) => `| \`${name}\` | ${what} |`),
  ].join('\n');

/** JSON whose lists of texts are on one line each. */
const mapText = (map: object) =>
  JSON.stringify(map, null, 2).replace(
    /\[\s+([^\]]*?)\s+\]/g,
    (_, items: string) => `[${items.replace(/\s+/g, ' ')}]`,
  );

const examplesText = () =>
  exampleEntries
    .map(([service, { map, note }]) =>
      [`### ${service}`, ...(note ? [note] : []), `\`\`\`json\n${mapText(map)}\n\`\`\``].join('\n\n'),
    )
    .join('\n\n');

/** The page with its tables of columns as the readers have them, and the examples of maps. */
export function migratingPage(page: string): string {
  const parts = { columns: columnsText(), mapped: mappedText(), examples: `\n${examplesText()}\n` };
  return Object.entries(parts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name}: [^>]*-->\n)[^]*?(<!-- end of ${name} -->)`),
        (_, start: string, end: string) => `${start}${part}\n${end}`,
      ),
    page,
  );
}
