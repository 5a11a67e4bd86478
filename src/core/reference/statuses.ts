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
export const participantStatus = {
  confirmed: 1,
  overbooked: 2,
  waiting: 3,
  deregistered: 4,
  unconfirmed: 7,
  deregisteredWithFee: 8,
} as const;
/** Statuses that may be requested; overbooked is assigned. */
export const requestableStatuses = [
  participantStatus.confirmed,
  participantStatus.waiting,
  participantStatus.unconfirmed,
] as const;
/** Payment statuses of participants (`idPaid`). */
export const paymentStatus = { yes: 1, no: 3 } as const;

export const seatStatuses: number[] = [
  participantStatus.confirmed,
  participantStatus.overbooked,
  participantStatus.unconfirmed,
];
export const confirmedStatuses: number[] = [participantStatus.confirmed, participantStatus.overbooked];
const leftStatuses: number[] = [participantStatus.deregistered, participantStatus.deregisteredWithFee];

export const holdsSeat = (statusId: number) => seatStatuses.includes(statusId);
export const isConfirmed = (statusId: number) => confirmedStatuses.includes(statusId);
export const hasLeft = (statusId: number) => leftStatuses.includes(statusId);
export const notLeftSql = (participant: string) => `${participant}.status_id not in (${leftStatuses.join(', ')})`;

type Statuses = { statusId: number; dateStatusId: number };

const seatNames = new Map(
  Object.entries(participantStatus).map(([name, id]) => [id as number, name as keyof typeof participantStatus]),
);
export type EnrolmentStatus = keyof typeof participantStatus | 'canceled';

/** The status to show to a participant: `canceled` if the course date is, else the participant's own. */
export function getEnrolmentStatus({ statusId, dateStatusId }: Statuses): EnrolmentStatus {
  if (dateStatusId === canceled && !hasLeft(statusId)) return 'canceled';
  return seatNames.get(statusId)!;
}

/** True if the participant's place is confirmed, and access details may be shown. */
export const hasConfirmedPlace = ({ statusId, dateStatusId }: Statuses) =>
  dateStatusId !== canceled && isConfirmed(statusId);
