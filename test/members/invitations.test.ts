import { env } from 'cloudflare:workers';
import { beforeEach, expect, it } from 'vitest';
import { database } from '#db';
import {
  acceptInvitation,
  changeRole,
  findInvitation,
  invite,
  listInvitations,
  listMembers,
  type MemberCaller,
  type Role,
  removeMember,
} from '#members';
import { createPerson, PASSWORD } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';

const db = database(env.DB);
const ROLES = ['owner', 'admin', 'viewer'] as const;

type Team = { id: string };
let team: Team;
let owner: MemberCaller;

async function addMember(to: Team, role: Role): Promise<MemberCaller> {
  const { email } = await createPerson(to, role);
  const member = (await listMembers(db, to.id)).find((row) => row.email === email);
  if (!member) throw new Error('the member is not listed');
  return { db, team: to, actor: email, now: Date.now(), userId: member.userId, role };
}

/** These members have nothing else that ends with their role. */
const nothing = () => [];

beforeEach(async () => {
  team = (await createTenant()).team;
  owner = await addMember(team, 'owner');
});

const open = async () =>
  (await listInvitations(db, team.id, Date.now())).map(({ note, role }) => `${note}: ${role}`).sort();

async function inviteEach(maker: typeof owner, roles: readonly Role[]) {
  const secrets = new Map<Role, string>();
  for (const role of roles) {
    secrets.set(role, await invite(maker, { role, note: maker.role }));
  }
  return secrets;
}

it.each([
  { from: 'owner', to: 'admin', left: ['admin', 'viewer'] },
  { from: 'owner', to: 'viewer', left: [] },
  { from: 'admin', to: 'viewer', left: [] },
  { from: 'admin', to: 'owner', left: ['admin', 'viewer'] },
] as const)('ends what a member who becomes $to after $from could not make', async ({ from, to, left }) => {
  const member = await addMember(team, from);
  const own = from === 'owner' ? ROLES : (['admin', 'viewer'] as const);
  const secrets = await inviteEach(member, own);
  await inviteEach({ ...owner, role: 'owner' }, ['viewer']);
  expect(await open()).toHaveLength(own.length + 1);
  await changeRole(owner, member.userId, to, nothing);
  const expected = [...left.map((role) => `${from}: ${role}`), 'owner: viewer'].sort();
  expect(await open()).toEqual(expected);
  for (const [role, secret] of secrets) {
    const found = await findInvitation(db, secret, Date.now());
    expect(found?.role, role).toBe((left as readonly Role[]).includes(role) ? role : undefined);
  }
});

it('revokes the invitations of a removed member, and no others', async () => {
  const member = await addMember(team, 'admin');
  await inviteEach(member, ['admin', 'viewer']);
  await inviteEach(owner, ['admin']);
  await removeMember(owner, member.userId, nothing);
  expect(await open()).toEqual(['owner: admin']);
});

it('keeps a removed admin out, whether by an open page or by an invitation made in the meantime', async () => {
  const member = await addMember(team, 'admin');
  const now = Date.now();
  const opened = await findInvitation(db, (await inviteEach(member, ['admin'])).get('admin') ?? '', now);
  if (!opened) throw new Error('the invitation was not found');
  await removeMember(owner, member.userId, nothing);
  // Their last request had passed the check of their role before they were removed.
  const late = await invite(member, { role: 'admin', note: 'late' });
  expect(await findInvitation(db, late, now)).toBeNull();

  const person = { name: 'Back', email: `back-${team.id}@team.test`, password: PASSWORD };
  await expect(acceptInvitation(env.DB, opened, person, now)).rejects.toMatchObject({ code: 'conflict' });
  const [row] = await listInvitations(db, team.id, now);
  if (!row) throw new Error('the late invitation is not listed');
  await expect(acceptInvitation(env.DB, row, person, now)).rejects.toMatchObject({ code: 'conflict' });
  expect((await listMembers(db, team.id)).map(({ userId }) => userId)).toEqual([owner.userId]);
});

it('keeps the invitations of the last owner', async () => {
  await inviteEach(owner, ['owner']);
  await expect(removeMember(owner, owner.userId, nothing)).rejects.toMatchObject({ code: 'conflict' });
  await expect(changeRole(owner, owner.userId, 'viewer', nothing)).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await open()).toEqual(['owner: owner']);
});

it('accepts no invitation that expired after its page was opened', async () => {
  const secret = await invite(owner, { role: 'viewer', note: 'Ann' });
  const found = await findInvitation(db, secret, Date.now());
  if (!found) throw new Error('the invitation is open');
  const [row] = await listInvitations(db, team.id, Date.now());
  const person = { name: 'Ann', email: 'ann-late@team.test', password: PASSWORD };
  await expect(acceptInvitation(env.DB, found, person, row?.expiresAt ?? 0)).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await listMembers(db, team.id)).toHaveLength(1);
  expect(await acceptInvitation(env.DB, found, person, (row?.expiresAt ?? 0) - 1)).toBe(true);
});

it('lists no expired invitation', async () => {
  await inviteEach(owner, ['viewer']);
  const [row] = await listInvitations(db, team.id, Date.now());
  const ends = row?.expiresAt ?? 0;
  expect(await listInvitations(db, team.id, ends - 1)).toHaveLength(1);
  expect(await listInvitations(db, team.id, ends)).toEqual([]);
});
