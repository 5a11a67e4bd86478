import { Type, type Static } from '@sinclair/typebox';
import { coercionKind, t } from '../../../core/schema/types.ts';
import { sendReceipts } from '../booking/body-schema.ts';

const { Optional } = Type;

/** A participant of the booking: its id, or an object with its id. */
const ParticipantReference = Type.Union([t.Id, t.NamedObject('ParticipantReference', { id: t.Id })]);

/** PUT /v2/booking/:id/deregister. */
export type DeregisterBody = Static<typeof DeregisterBody>;
export const DeregisterBody = t.NamedObject(
  'DeregistrationCreate',
  {
    participants: Optional(
      t.JsonList(ParticipantReference, {
        minItems: 1,
        description: 'Ids of participants of this booking; all of them unless sent',
      }),
    ),
    config: Optional(
      t.NamedObject(
        'DeregistrationConfig',
        {
          with_fee: Optional(
            Type.Boolean({ default: false, description: 'true: the status is 8, deregistered with fee' }),
          ),
          send_receipt_email_to_participant: sendReceipts,
        },
        { [coercionKind]: 'json' as const },
      ),
    ),
  },
  { examples: [{ config: { with_fee: false } }] },
);
