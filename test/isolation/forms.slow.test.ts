import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { dashboard } from '../../src/dashboard/app.tsx';
import { createApplications, fillSides, type Side, type Sides } from './sides.ts';
import { differences, marksIn, storedOf } from './visible.ts';

// Every form of the dashboard, sent by the owner of one team with the ids of another one, and of another application of its own.

/** Tables whose rows a form names by this column, by the start of the form's address. The longest start decides. */
const TABLES: Readonly<Record<string, { table: string; id: string }>> = {
  '/views/links': { table: 'share_links', id: 'hash' },
  '/views': { table: 'saved_views', id: 'id' },
  '/creatives': { table: 'creatives', id: 'id' },
  '/connectors': { table: 'connectors', id: 'id' },
  '/alerts/channels': { table: 'channels', id: 'id' },
  '/alerts': { table: 'alerts', id: 'id' },
  '/notes': { table: 'notes', id: 'id' },
  '/status': { table: 'parked_messages', id: 'id' },
  '/settings/applications': { table: 'applications', id: 'id' },
  '/settings/destinations': { table: 'destinations', id: 'id' },
  '/settings/tokens': { table: 'access_tokens', id: 'id' },
  '/settings/members/invitations': { table: 'invitations', id: 'hash' },
  '/settings/members': { table: 'members', id: 'user_id' },
};

/** Concern the person alone. */
const OWN = /^\/settings\/account/;

const FORMS = [
  ...new Set(dashboard.routes.filter(({ method }) => method === 'POST').map(({ path }) => path)),
].filter((path) => path.includes('/:id') && !OWN.test(path));

/** Fields with which each form would do something. */
const FIELDS = {
  ...{ name: 'Changed', timezone: 'UTC', currency: 'usd', note: 'Changed', text: 'Changed', role: 'viewer' },
  ...{
    day: '2026-03-01',
    days: '1',
    grace_hours: '0',
    url: 'https://changed.example.com/',
    confirm: 'Test game',
  },
  ...{
    network: 'meta',
    external_id: '99',
    'credentials.access_token': 'changed',
    kind: 'no_events',
    threshold: '5',
  },
};

let sides: Sides;
beforeAll(async () => {
  sides = await fillSides(await createApplications());
}, 300_000);

const placeOf = (route: string) =>
  Object.entries(TABLES)
    .filter(([start]) => route.startsWith(`${start}/`))
    .sort(([left], [right]) => right.length - left.length)[0]?.[1];

/** The id of a row that only this side has. */
async function idOf(route: string, side: Side): Promise<string> {
  const place = placeOf(route);
  if (!place) throw new Error(`Say in TABLES what ${route} is about`);
  const { table, id } = place;
  const { results: columns } = await env.DB.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{
    name: string;
  }>();
  const isOfTeam = table === 'applications' ? false : !columns.some(({ name }) => name === 'application_id');
  const owner = table === 'applications' ? 'id' : isOfTeam ? 'team_id' : 'application_id';
  const found = await env.DB.prepare(`SELECT ${id} AS id FROM "${table}" WHERE ${owner} = ? LIMIT 1`)
    .bind(isOfTeam ? side.tenant.team.id : side.things.application)
    .first<{ id: string }>();
  if (!found) throw new Error(`Make a row of ${table} in sides.ts`);
  return found.id;
}

it.each(FORMS)('POST %s leaves what another team has as it is, and does not show it', async (route) => {
  const { ours, theirs } = sides;
  const path = route.replace(':id', await idOf(route, theirs));
  const before = await storedOf(theirs);
  for (const app of [ours, theirs]) {
    const answer = await ours.browser.post(`${path}?app=${app.things.application}`, FIELDS);
    expect([303, 404]).toContain(answer.status);
    expect(marksIn(await answer.text(), theirs, [theirs.things.application])).toEqual([]);
  }
  expect(differences(before, await storedOf(theirs))).toEqual([]);
});

it.each(FORMS)('POST %s does something with what the own team has', async (route) => {
  const { ours } = sides;
  const path = route.replace(':id', await idOf(route, ours));
  const answer = await ours.browser.post(`${path}?app=${ours.things.application}`, FIELDS);
  expect(answer.status).not.toBe(404);
});
