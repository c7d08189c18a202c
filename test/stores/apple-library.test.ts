import { Buffer } from 'node:buffer';
import { Environment, SignedDataVerifier, VerificationException } from '@apple/app-store-server-library';
import { expect, it } from 'vitest';
import { verifyAppStoreJws } from '../../src/stores/apple-chain.ts';
import { PINNED } from '../../src/stores/apple-root.ts';
import { EXPIRED_LEAF, INTERMEDIATE, LEAF, signNotification, TEST_ROOT } from './signer.ts';

// Apple's own library says the same of what these tests sign as ours does. It needs Node.

const verifierOf = (root: string) =>
  new SignedDataVerifier(
    [Buffer.from(root, 'base64')],
    false,
    Environment.PRODUCTION,
    'com.example.game',
    525463029,
  );

/** Whether Apple's library takes a notification with its transaction, and whether ours does. */
async function verdicts({ signedPayload }: { signedPayload: string }, root = TEST_ROOT) {
  const verifier = verifierOf(root);
  const apples = async () => {
    const { data } = await verifier.verifyAndDecodeNotification(signedPayload);
    return verifier.verifyAndDecodeTransaction(data?.signedTransactionInfo ?? '');
  };
  const now = Date.now();
  const read = (jws: unknown) => verifyAppStoreJws(String(jws), { root, now });
  const ours = async () => {
    const { data } = (await read(signedPayload)) as { data: { signedTransactionInfo: string } };
    return read(data.signedTransactionInfo);
  };
  const refused = (error: unknown) => {
    if (!(error instanceof VerificationException) && !String(error).includes('signedPayload')) throw error;
    return 'refused';
  };
  return Promise.all([apples().catch(refused), ours().catch(refused)]);
}

it('takes what our signer makes, and reads the same of it', async () => {
  const [apples, ours] = await verdicts(signNotification('DID_RENEW', { transactionId: '2000000042' }));
  expect(apples).toMatchObject({ transactionId: '2000000042', productId: 'gold', price: 9990 });
  expect(ours).toEqual(apples);
});

const signed = (chain?: readonly string[]) => signNotification('SUBSCRIBED', {}, chain ? { chain } : {});
const { signedPayload } = signed();

it.each([
  ['a chain without an intermediate', signed([LEAF, TEST_ROOT, TEST_ROOT])],
  ['an expired certificate', signed([EXPIRED_LEAF, INTERMEDIATE, TEST_ROOT])],
  ['no chain', signed([])],
  ['a chain of two', signed([LEAF, INTERMEDIATE])],
  ['a chain in another order', signed([INTERMEDIATE, LEAF, TEST_ROOT])],
  ['a forged signature', { signedPayload: signedPayload.replace(/.{8}$/, 'AAAAAAAA') }],
  [
    'another payload',
    {
      signedPayload: signedPayload.replace(/\.[^.]+\./, signed().signedPayload.match(/\.[^.]+\./)?.[0] ?? ''),
    },
  ],
])('refuses %s', async (_, notification) => {
  expect(await verdicts(notification)).toEqual(['refused', 'refused']);
});

it('refuses a chain that leads to another root than Apple’s', async () => {
  expect(await verdicts(signed(), PINNED.root)).toEqual(['refused', 'refused']);
});

it('ignores the third certificate, which whoever sends the chain may choose', async () => {
  const [apples, ours] = await verdicts(signed([LEAF, INTERMEDIATE, LEAF]));
  expect(apples).toMatchObject({ productId: 'gold' });
  expect(ours).toEqual(apples);
});
