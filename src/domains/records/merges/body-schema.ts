import type { Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { dryRun } from '../../../core/schema/dry-run.ts';

/** POST /v2/course-users/:id/merge and /v2/customers/:id/merge. */
export type MergeBody = Static<typeof MergeBody>;
export const MergeBody = t.NamedObject(
  'MergeCreate',
  {
    into: { ...t.Id, description: 'Id of the one that stays, and keeps its own fields' },
    dry_run: dryRun('true: nothing changes, and the response has what would move'),
  },
  { examples: [{ into: 12, dry_run: true }] },
);
