import type { Static } from '@sinclair/typebox';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { t } from '../../../core/schema/types.ts';

/** POST /v2/participants/:id/move. */
export type MoveBody = Static<typeof MoveBody>;
export const MoveBody = t.NamedObject(
  'MoveCreate',
  {
    coursedate_id: { ...t.Id, description: 'Id of the course date to move to, of any course' },
    price: t.withDefault(
      {
        ...t.OneOf(['keep', 'difference']),
        description: 'difference: what it costs more or less is an order or a credit',
      },
      'keep',
    ),
    dry_run: dryRun('true: nothing changes, and the response has what would'),
  },
  { examples: [{ coursedate_id: 76 }] },
);
