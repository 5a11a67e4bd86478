import { Type, type Static } from '@sinclair/typebox';
import { participantStatusTitles } from '../../../core/reference/participant-statuses.ts';
import * as codes from '../../../core/schema/codes.ts';
import { dryRun } from '../../../core/schema/dry-run.ts';
import { coercionKind, t } from '../../../core/schema/types.ts';
import { paidStates } from '../../participants/participants/schema.ts';
import { ParticipantBody, sendReceipts } from '../booking/body-schema.ts';

const { Optional } = Type;

const { firstname, lastname, email, phone, company, position, date_of_birth } = ParticipantBody.properties;
/** A rule of linters: what is required is a property of the same schema. */
const requires = (...names: string[]) => ({
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});
const NewPerson = t.NamedObject(
  'ParticipantPerson',
  {
    id: Optional({ ...t.Id, description: 'Alone: a course user' }),
    external_id: Optional(t.Line({ description: 'Alone: the course user with it' })),
    ...{ firstname: Optional(firstname), lastname: Optional(lastname), email: Optional(email) },
    ...{ phone, company, position, date_of_birth },
  },
  {
    ...{ [coercionKind]: 'json', required: [], if: { anyOf: [requires('id'), requires('external_id')] } },
    else: requires('firstname', 'lastname', 'email'),
  },
);

/** PUT /v2/participants/:id, a partial update; neither of the two ids can be cleared. */
export type ParticipantChange = Static<typeof ParticipantChange>;
export const ParticipantChange = t.NamedObject(
  'ParticipantUpdate',
  t.partialUpdate({
    idStatus: {
      ...codes.Code('ParticipantStatusId', participantStatusTitles),
      description: '1, 3 and 7 take a seat as a booking does; 4 and 8 free it; only the service assigns 2',
    },
    idPaid: codes.Code('PaymentStatusId', paidStates),
    completed: Optional(Type.Boolean()),
    passed: Optional(Type.Boolean()),
    no_show: Optional(Type.Boolean()),
    user: Optional({
      ...NewPerson,
      description: 'The person who gets the place. With the names and `id`: who has it, unchanged',
    }),
    user_comment: Optional(t.Note()),
    certificate_issued_at: Optional(Type.String({ format: 'date', pattern: '^(?!0000)', description: 'yyyy-mm-dd' })),
    custom_properties: Optional(t.CustomProperties),
  }),
  { examples: [{ idPaid: 1 }] },
);

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
