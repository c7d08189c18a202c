export { AUDIT_ACTIONS, type AuditAction, auditStatement, listActors, listAudit } from './audit-log.ts';
export { apiCaller, type Caller } from './caller.ts';
