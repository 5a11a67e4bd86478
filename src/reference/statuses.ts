import type { Label } from './language.ts';

/** What a course date may be, by `status_id`. */
export const courseDateStatuses = new Map<number, Label>([
  [1, { en: 'To be defined', no: 'Ikke avklart' }],
  [2, { en: 'Will run', no: 'Gjennomføres' }],
  [3, { en: 'Canceled', no: 'Avlyst' }],
  [4, { en: 'Postponed', no: 'Utsatt' }],
]);
export const canceled = 3;

/** `idType` of a status: the kind of thing it is a status of. Course dates have one kind. */
export const courseDateStatusType = 1;
