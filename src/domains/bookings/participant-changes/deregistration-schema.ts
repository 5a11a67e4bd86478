import { Type, type TObject } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';

/** PUT /v2/booking/:id/deregister. */
export const DeregistrationResult = <P extends TObject>(participant: P) =>
  t.NamedObject(
    'DeregistrationResult',
    t.member.personal.all({
      successful: Type.Boolean(),
      booking_id: Type.String(),
      participants: Type.Array(participant),
    }),
  );
