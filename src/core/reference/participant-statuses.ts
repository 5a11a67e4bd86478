import * as codes from '../schema/codes.ts';
import type { Label } from './language.ts';
import { participantStatus } from './statuses.ts';

export const label = (en: string, no: string): Label => ({ en, no });

/** Statuses of participants; 4 and 8 hold no seat. */
export const participantStatuses = new Map<number, { code: string; title: Label }>([
  [participantStatus.confirmed, { code: 'status_confirmed', title: label('Confirmed', 'Bekreftet') }],
  [participantStatus.overbooked, { code: 'status_overbooked', title: label('Overbooked', 'Overbooket') }],
  [participantStatus.waiting, { code: 'status_waitinglist', title: label('Waiting list', 'Venteliste') }],
  [participantStatus.deregistered, { code: 'status_deregistered', title: label('Deregistered', 'Avmeldt') }],
  [participantStatus.unconfirmed, { code: 'status_unconfirmed', title: label('Unconfirmed', 'Ubekreftet') }],
  [
    participantStatus.deregisteredWithFee,
    { code: 'status_deregistered_with_fee', title: label('Deregistered with fee', 'Avmeldt med gebyr') },
  ],
]);

export const participantStatusTitles = new Map([...participantStatuses].map(([id, { title }]) => [id, title.en]));

export const ParticipantStatusId = codes.Code('ParticipantStatusId', participantStatusTitles);
