import { Type, type Static } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import type { Settings } from '../../../core/settings.ts';

/** Kinds by page: the payer's of a booking, that of an offer, and that which confirms an interest in a course. */
type LinkKind = 'booking' | 'offer' | 'interest';

/** The booking that a link opens; an offer link opens one of its participants. */
export type LinkSubject = { providerId: number; bookingId: number; participantId: number | null };

export const linkUrl = ({ publicUrl }: Pick<Settings, 'publicUrl'>, kind: LinkKind, token: string) =>
  `${publicUrl}/my/${kind}/${token}`;

/** POST /v2/booking/:id/link. */
export type LinkResult = Static<typeof LinkResult>;
export const LinkResult = t.NamedObject(
  'BookingLink',
  t.member.personal.all({
    successful: Type.Boolean(),
    booking_id: Type.String(),
    email: Type.String({ description: 'Where the link is mailed to' }),
  }),
);
