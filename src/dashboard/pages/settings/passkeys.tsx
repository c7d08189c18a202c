import * as z from 'zod';
import { AppError, type Fault, requiredName } from '#http';
import { addPasskey, beginPasskey, type listPasskeys, removePasskey } from '#members';
import type { FormField } from '../../forms/field.tsx';
import { currentPasswordField, Fields } from '../../forms/fields.tsx';
import { readForm, requireForm } from '../../forms/form.ts';
import { credentialField, PasskeyScript } from '../../forms/passkey-parts.tsx';
import { timeText } from '../../shell/dates.ts';
import { changing, redirectDone } from '../../shell/done.ts';
import { callerOf, setCookies } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, FormMenu } from '../../shell/parts.tsx';
import { Table } from '../../tables/table.tsx';
import { limitPerson } from '../access/sign-in.tsx';

const PATH = '/settings/account';
const NewPasskey = z.object({ passkey_name: requiredName(100), credential: credentialField() });

const FIELDS: readonly FormField[] = [
  {
    label: 'Name of the passkey',
    name: 'passkey_name',
    hint: 'Such as the device that it is on',
    maxlength: 100,
    required: true,
  },
  currentPasswordField('Your password, to add it', 'passkey_password'),
];

type Passkeys = Awaited<ReturnType<typeof listPasskeys>>;

/** A person's passkeys. Without JavaScript, or in a browser without passkeys, they can only be removed. */
export const PasskeysCard = ({
  rows,
  zone,
  faults,
}: {
  rows: Passkeys;
  zone: string;
  faults: readonly Fault[];
}) => (
  <Card
    title="Passkeys"
    aside={
      <FormMenu
        label="Add"
        id="passkey"
        kind="quiet"
        open={faults.some(({ path }) => path.startsWith('passkey'))}
      >
        <form
          method="post"
          action={`${PATH}/passkeys`}
          class="stack"
          data-passkey="create"
          data-challenge={`${PATH}/passkeys/challenge`}
          hidden
        >
          <input type="hidden" name="credential" value="" />
          <Fields fields={FIELDS} faults={faults} />
          <button type="submit">Add a passkey</button>
          <p role="status"></p>
        </form>
      </FormMenu>
    }
  >
    <p class="muted">
      A passkey signs you in with a fingerprint, face or PIN of your device, without a password or code.
    </p>
    <Table
      caption="Your passkeys"
      rows={rows}
      empty="No passkeys yet."
      columns={[
        { label: 'Name', cell: ({ name }) => name },
        { label: 'Added', cell: ({ createdAt }) => (createdAt ? timeText(createdAt.getTime(), zone) : '') },
      ]}
      actions={({ id, name }) => (
        <Action
          to={`${PATH}/passkeys/${id}/remove`}
          label="Remove"
          kind="danger"
          confirm={`Remove “${name}”? It no longer signs you in.`}
        />
      )}
    />
    <PasskeyScript />
  </Card>
);

/** Answers the script: the challenge, or why there is none. */
export async function challengePasskey(c: DashboardContext): Promise<Response> {
  const person = c.get('person');
  await limitPerson(c);
  const { passkey_password: password = '' } = await readForm(c);
  const begun = await beginPasskey(c.env, c.req.raw, callerOf(c), person, password.slice(0, 128));
  if (!begun) return c.json({ message: 'Your password is incorrect.' }, 400);
  setCookies(c, begun.cookies);
  return c.json(begun.options);
}

export async function savePasskey(c: DashboardContext): Promise<Response> {
  const { passkey_name: name, credential } = await requireForm(c, NewPasskey);
  const added = await addPasskey(c.env, c.req.raw, callerOf(c), c.get('person'), { name, credential });
  if (!added) throw new AppError('invalid_request', 'The passkey could not be added. Try again.');
  return redirectDone(c, PATH, 'passkey_added');
}

export const deletePasskey = changing(PATH, 'passkey_removed', (caller, id, c) =>
  removePasskey(caller, c.get('person'), id),
);
