import type { Label } from './language.ts';

/** What a course date may be, by `status_id`. */
export const courseDateStatuses = new Map<number, Label>([
  [1, { en: 'To be defined', no: 'Ikke avklart' }],
  [2, { en: 'Will run', no: 'Gjennomføres' }],
  [3, { en: 'Canceled', no: 'Avlyst' }],
  [4, { en: 'Postponed', no: 'Utsatt' }],
]);
export const canceled = 3;
export const postponed = 4;

/** What a participant may be, by `idStatus`. */
export const seat = {
  confirmed: 1,
  overbooked: 2,
  waiting: 3,
  deregistered: 4,
  unconfirmed: 7,
  deregisteredWithFee: 8,
} as const;
/** Whether a participant is paid for, by `idPaid`. */
export const paid = { yes: 1, no: 3 } as const;

const holding: number[] = [seat.confirmed, seat.overbooked, seat.unconfirmed];
const left: number[] = [seat.deregistered, seat.deregisteredWithFee];

export const holdsSeat = (statusId: number) => holding.includes(statusId);
export const hasLeft = (statusId: number) => left.includes(statusId);

/** A participant and its course date, by their statuses. */
type Enrolled = { statusId: number; dateStatusId: number };

const seatNames = new Map(Object.entries(seat).map(([name, id]) => [id as number, name as keyof typeof seat]));
export type EnrolmentStatus = keyof typeof seat | 'canceled';

/** What to tell a person first: that their course is off, else how they stand. */
export function getEnrolmentStatus({ statusId, dateStatusId }: Enrolled): EnrolmentStatus {
  if (dateStatusId === canceled && !hasLeft(statusId)) return 'canceled';
  return seatNames.get(statusId)!;
}

/** Whether the person's place is certain: only then do they get the way in. An unconfirmed one is held for them, no more. */
export function hasPlace(enrolled: Enrolled) {
  const enrolmentStatus = getEnrolmentStatus(enrolled);
  return enrolmentStatus === 'confirmed' || enrolmentStatus === 'overbooked';
}
