import type { Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { dryRun } from '../../../core/schema/dry-run.ts';

/** POST /v2/course-users/:id/erase. */
export type ErasureBody = Static<typeof ErasureBody>;
export const ErasureBody = t.NamedObject(
  'ErasureCreate',
  {
    dry_run: dryRun('true: nothing changes, and the response has what would go'),
  },
  { examples: [{ dry_run: true }] },
);
