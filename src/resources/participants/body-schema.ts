import { Type, type Static } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { t } from '../../core/schema/types.ts';
import { paidStates, participantStatusTitles } from './schema.ts';

const { Optional } = Type;

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
    custom_properties: Optional(t.CustomProperties),
  }),
  { examples: [{ idPaid: 1 }] },
);
