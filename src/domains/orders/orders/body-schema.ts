import { dryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';

/** POST /v2/orders/:id/export. */
export const OrderExportBody = t.NamedObject(
  'OrderExportCreate',
  { dry_run: dryRun('true: nothing changes, and the response is the order as it would be') },
  { examples: [{ dry_run: true }] },
);
