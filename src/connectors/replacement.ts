import type { BatchItem } from 'drizzle-orm/batch';
import type { ConnectorChange } from '#db';
import type { CostAccount } from '#networks/costs';

/** What a run replaces, in one transaction with the connector's own row. `expiresAt`: when the credentials end; null if they do not. */
export type Replacement = {
  statements: () => BatchItem<'sqlite'>[];
  change: ConnectorChange;
  account: CostAccount;
  expiresAt: number | null;
};
