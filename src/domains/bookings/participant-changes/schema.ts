import { Type, type TObject } from '@sinclair/typebox';
import { hasLeft, participantStatus } from '../../../core/reference/statuses.ts';
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

/** Terms of a cancellation: until when, in local time of the date, and for what fee; or why it is refused. */
export type CancellationTerms =
  | { kind: 'free'; until: string; isFeeAfterwards: boolean }
  | { kind: 'fee'; until: string }
  | { kind: 'closed'; reason: 'date_canceled' | 'started' | 'attended' | 'late' }
  | { kind: 'left' };

type CancellationFacts = {
  statusId: number;
  heldFor: 'offer' | 'name' | null;
  lateCancellation: 'no' | 'fee';
  isDateCanceled: boolean;
  isStarted: boolean;
  isAttended: boolean;
  /** The time to cancel free of charge is over. */
  isLate: boolean;
  /** `yyyy-mm-dd hh:mm` in the zone of the date. */
  freeUntil: string;
  startsAt: string;
};

export function decideTerms(facts: CancellationFacts): CancellationTerms {
  const { statusId, heldFor, lateCancellation, freeUntil, startsAt } = facts;
  if (hasLeft(statusId)) return { kind: 'left' };
  if (facts.isDateCanceled) return { kind: 'closed', reason: 'date_canceled' };
  if (facts.isStarted) return { kind: 'closed', reason: 'started' };
  if (facts.isAttended) return { kind: 'closed', reason: 'attended' };
  const isWaiting = statusId === participantStatus.waiting || heldFor === 'offer';
  if (isWaiting) return { kind: 'free', until: startsAt, isFeeAfterwards: false };
  const isFeePossible = lateCancellation === 'fee' && freeUntil !== startsAt;
  if (!facts.isLate) return { kind: 'free', until: freeUntil, isFeeAfterwards: isFeePossible };
  return isFeePossible ? { kind: 'fee', until: startsAt } : { kind: 'closed', reason: 'late' };
}
