import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { coercionKind, t } from '../../core/schema/types.ts';
import { ParticipantBody } from '../booking/body-schema.ts';
import { paidStates, participantStatusTitles } from '../participants/schema.ts';

const { Optional } = Type;

const { firstname, lastname, email, phone, company, position, date_of_birth } = ParticipantBody.properties;
const NewPerson = t.NamedObject(
  'ParticipantPerson',
  { firstname, lastname, email, phone, company, position, date_of_birth },
  { [coercionKind]: 'json' },
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
      description: 'Without `id`: another person gets the place. With `id`: the person who has it, unchanged',
    }),
    user_comment: Optional(t.Note()),
    certificate_issued_at: Optional(Type.String({ format: 'date', pattern: '^(?!0000)', description: 'yyyy-mm-dd' })),
    custom_properties: Optional(t.CustomProperties),
  }),
  { examples: [{ idPaid: 1 }] },
);
