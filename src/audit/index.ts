export {
  AUDIT_ACTIONS,
  type AuditAction,
  auditStatement,
  listAudit,
  newAuditEntry,
} from './audit-log.ts';
export { apiCaller, type Caller } from './caller.ts';
