export { changePassword } from './change-password.ts';
export { type Claimant, isDeploymentOwner } from './deployment-owner.ts';
export {
  acceptInvitation,
  findInvitation,
  INVITATION_DAYS,
  invite,
  listInvitations,
  withdrawInvitation,
} from './invitations.ts';
export {
  atLeast,
  changeRole,
  type EndBelongings,
  hasPassword,
  listMembers,
  type MemberCaller,
  makeFirstOwner,
  mayAdminister,
  NewPerson,
  newPassword,
  ROLES,
  type Role,
  removeMember,
  setupIsOpen,
} from './members.ts';
export {
  addPasskey,
  beginPasskey,
  beginPasskeySignIn,
  listPasskeys,
  removePasskey,
  signInWithPasskey,
} from './passkeys.ts';
export {
  createPasswordReset,
  findPasswordReset,
  type PasswordReset,
  passwordResetSql,
  RESET_HOURS,
  resetPassword,
} from './password-reset.ts';
export { reencryptSecondFactors } from './reencrypt-second-factors.ts';
export {
  beginSecondFactor,
  confirmSecondFactor,
  enterCode,
  removeSecondFactor,
  type SecondFactor,
  secondFactorOf,
} from './second-factor.ts';
export { type Person, personOf, pruneSessions, signIn, signOut } from './session.ts';
