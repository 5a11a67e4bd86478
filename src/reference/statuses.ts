import type { Label } from './language.ts';

/** Course date statuses by `status_id`. */
export const courseDateStatuses = new Map<number, Label>([
  [1, { en: 'To be defined', no: 'Ikke avklart' }],
  [2, { en: 'Will run', no: 'Gjennomføres' }],
  [3, { en: 'Canceled', no: 'Avlyst' }],
  [4, { en: 'Postponed', no: 'Utsatt' }],
]);
export const canceled = 3;
export const postponed = 4;

/** Participant statuses (`idStatus`). */
export const seat = {
  confirmed: 1,
  overbooked: 2,
  waiting: 3,
  deregistered: 4,
  unconfirmed: 7,
  deregisteredWithFee: 8,
} as const;
/** Payment statuses of participants (`idPaid`). */
export const paid = { yes: 1, no: 3 } as const;

const seatStatuses: number[] = [seat.confirmed, seat.overbooked, seat.unconfirmed];
const leftStatuses: number[] = [seat.deregistered, seat.deregisteredWithFee];

export const holdsSeat = (statusId: number) => seatStatuses.includes(statusId);
export const hasLeft = (statusId: number) => leftStatuses.includes(statusId);

type Statuses = { statusId: number; dateStatusId: number };

const seatNames = new Map(Object.entries(seat).map(([name, id]) => [id as number, name as keyof typeof seat]));
export type EnrolmentStatus = keyof typeof seat | 'canceled';

/** The status to show to a participant: `canceled` if the course date is, else the participant's own. */
export function getEnrolmentStatus({ statusId, dateStatusId }: Statuses): EnrolmentStatus {
  if (dateStatusId === canceled && !hasLeft(statusId)) return 'canceled';
  return seatNames.get(statusId)!;
}

/** True if the participant's place is confirmed, and access details may be shown. */
export function hasPlace(statuses: Statuses) {
  const enrolmentStatus = getEnrolmentStatus(statuses);
  return enrolmentStatus === 'confirmed' || enrolmentStatus === 'overbooked';
}
