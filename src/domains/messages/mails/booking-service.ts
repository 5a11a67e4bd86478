import { isMailOn } from '../../../core/reference/mail-kinds.ts';
import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { queueMails, type NewMail } from './queue-service.ts';

/** Who gets a receipt, whatever the request and the switches say: the booker, and the participants by their place. */
export type RequestedMails = { toBooker: boolean; toParticipants: boolean[] };

type Booked = {
  input: {
    places?: number;
    booker_email?: string;
    config?: {
      send_receipt_email_to_participant?: boolean;
      send_account_created_email_to_user?: boolean;
      send_link_email_to_booker?: boolean;
    };
  };
  switches: Parameters<typeof isMailOn>[1];
  users: { userId: number; isNew: boolean }[];
  created: { bookingId: number; participantIds: number[] };
  mails?: RequestedMails | undefined;
};

/** Queues the mails about a booking. Its request decides on receipts, else the switches of the school. */
export const queueBookingMails = (ctx: Pick<Ctx, 'providerId'>, tx: Tx, now: string, booked: Booked) =>
  queueMails(
    ctx,
    tx,
    now,
    booked.input.places === undefined ? [...toParticipants(booked), ...toBooker(booked)] : toBooker(booked),
  );

function toBooker({ input: { config, booker_email }, switches, created: { bookingId }, mails }: Booked): NewMail[] {
  const isReceiptSent = mails?.toBooker ?? (booker_email !== undefined && isMailOn('booking_receipt', switches));
  return [
    ...(isReceiptSent ? [{ purpose: 'booking_receipt' as const, bookingId, isRequested: true }] : []),
    // The receipt has the link; a second one would end it.
    ...(config?.send_link_email_to_booker && !isReceiptSent ? [{ purpose: 'booking_link' as const, bookingId }] : []),
  ];
}

function toParticipants({ input: { config }, switches, users, created, mails }: Booked): NewMail[] {
  const newUserIds = new Set(users.flatMap(({ userId, isNew }) => (isNew ? [userId] : [])));
  const accounts = [...newUserIds].map((userId): NewMail => ({
    purpose: 'account_created',
    userId,
    participantId: null,
  }));
  const receipts = users.map(({ userId }, n): NewMail => ({
    ...{ purpose: 'receipt', userId, participantId: created.participantIds[n]! },
    isRequested: true,
  }));
  const sendReceipts = config?.send_receipt_email_to_participant ?? isMailOn('receipt', switches);
  const sent = receipts.filter((_receipt, n) => mails?.toParticipants[n] ?? sendReceipts);
  return [...(config?.send_account_created_email_to_user ? accounts : []), ...sent];
}
