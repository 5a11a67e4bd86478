import { Type } from '@sinclair/typebox';
import { EventResource, EventType } from '../../../database/event-types.ts';
import { t } from '../../../core/schema/types.ts';

/** Maximum number of changes per response. */
export const maxLimit = 1_000;

export const Change = t.NamedObject(
  'Change',
  t.member.closed.all({
    id: Type.Integer({ description: 'Increases with each change of the school' }),
    type: EventType,
    resource: EventResource,
    resource_id: t.Nullable(Type.Integer({ description: 'Null for a resync: read all items of the resource again' })),
    at: Type.String({ format: 'date-time', description: 'Equal for all changes of one write' }),
    into: Type.Optional(Type.Integer({ description: 'Of a merge alone: the id of the item that stays' })),
  }),
);

export const Gone = t.NamedObject(
  'Gone',
  t.member.closed.all({
    error: Type.String(),
    code: t.OneOf(['read_everything_again'], { description: 'The copy may lack changes: read everything again' }),
  }),
);

export const Changes = t.NamedObject(
  'Changes',
  t.member.closed.all({
    items: Type.Array(Change),
    cursor: Type.String({ description: 'The `since` of the next request', examples: ['MS4yNS4xNzg1MTM1NjAwMDAwMDAw'] }),
    has_more: Type.Boolean({ description: 'There are changes after the cursor already' }),
  }),
);
