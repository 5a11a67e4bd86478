import { isMailOn, type MailSwitches } from '../../core/reference/mail-kinds.ts';
import type { Tx } from '../../database/client.ts';
import type { Ctx } from '../../database/context.ts';
import { queueMails, type NewMail } from './queue-service.ts';

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
  switches: MailSwitches | null;
  users: { userId: number; isNew: boolean }[];
  created: { bookingId: number; participantIds: number[] };
};

/** Queues the mails about a booking. Its request decides on receipts, else the switches of the school. */
export const queueBookingMails = (ctx: Pick<Ctx, 'providerId'>, tx: Tx, now: string, booked: Booked) =>
  queueMails(
    ctx,
    tx,
    now,
    booked.input.places === undefined ? [...toParticipants(booked), ...toBooker(booked)] : toBooker(booked),
  );

function toBooker({ input: { config, booker_email }, switches, created: { bookingId } }: Booked): NewMail[] {
  const isReceiptSent = booker_email !== undefined && isMailOn('booking_receipt', switches);
  return [
    ...(isReceiptSent ? [{ purpose: 'booking_receipt' as const, bookingId, isRequested: true }] : []),
    // The receipt has the link; a second one would end it.
    ...(config?.send_link_email_to_booker && !isReceiptSent ? [{ purpose: 'booking_link' as const, bookingId }] : []),
  ];
}

function toParticipants({ input: { config }, switches, users, created }: Booked): NewMail[] {
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
  return [...(config?.send_account_created_email_to_user ? accounts : []), ...(sendReceipts ? receipts : [])];
}
