import type { Language } from '../../../../core/reference/language.ts';
import type { MailPurpose } from '../../../../database/tables/outbox.ts';

/** Mails to the school about its dates and their participants; `moved_away` to those who are told of the former date. */
export type NoticePurpose = Extract<MailPurpose, `notice_${string}` | 'moved_away'>;

const en = {
  kinds: {
    notice_booked: 'Booked',
    notice_canceled: 'Deregistered',
    moved_away: 'Moved',
    notice_full: 'Fully booked',
    notice_under_minimum: 'Under the minimum',
    notice_budget: 'Budget reached',
  } satisfies Record<NoticePurpose, string> as Record<NoticePurpose, string>,
  openings: {
    notice_booked: 'There is a new booking of this date.',
    notice_canceled: 'There is a cancellation on this date.',
    moved_away: 'A participant is moved from this date to another one.',
    notice_full: 'All seats of this date are taken.',
    notice_under_minimum: 'This date has fewer confirmed participants than its minimum, and its deadline is near.',
    notice_budget: 'This date has as many confirmed participants as the budget of its location.',
  } satisfies Record<NoticePurpose, string> as Record<NoticePurpose, string>,
  digest: (count: number) => ({
    subject: `${count} notices of bookings and course dates`,
    text: 'Many notices to you were waiting at once, so this mail lists them all.',
  }),
  why: 'The booking settings of your school decide which notices are sent.',
  offered: 'Has an offer of a place',
  withoutName: 'Without a name',
  places: (count: number) => (count === 1 ? '1 place' : `${count} places`),
  orderNumber: (id: number) => `order ${id}`,
  facts: {
    participant: 'Participant',
    status: 'Status now',
    movedTo: 'Moved to',
    order: 'Order number',
    seats: 'Seats',
    confirmed: 'Confirmed',
    minimum: 'Minimum',
    budget: 'Budget',
    deadline: 'Deadline',
  },
  taken: (count: number) => `${count} taken`,
  free: (count: number) => `${count} free`,
  unlimited: 'no limit',
  waiting: (count: number) => `${count} on the waiting list`,
};

const no: typeof en = {
  kinds: {
    notice_booked: 'Påmeldt',
    notice_canceled: 'Avmeldt',
    moved_away: 'Flyttet',
    notice_full: 'Fullbooket',
    notice_under_minimum: 'Under minimum',
    notice_budget: 'Budsjettet er nådd',
  },
  openings: {
    notice_booked: 'Det er en ny påmelding til denne datoen.',
    notice_canceled: 'Det er en avmelding fra denne datoen.',
    moved_away: 'En deltaker er flyttet fra denne datoen til en annen.',
    notice_full: 'Alle plassene på denne datoen er tatt.',
    notice_under_minimum: 'Denne datoen har færre bekreftede deltakere enn minimum, og fristen er nær.',
    notice_budget: 'Denne datoen har så mange bekreftede deltakere som stedet har budsjettert med.',
  },
  digest: (count) => ({
    subject: `${count} varsler om påmeldinger og kursdatoer`,
    text: 'Mange varsler til deg ventet samtidig, så denne e-posten lister opp alle.',
  }),
  why: 'Skolens innstillinger for bestilling avgjør hvilke varsler som sendes.',
  offered: 'Har tilbud om plass',
  withoutName: 'Uten navn',
  places: (count) => (count === 1 ? '1 plass' : `${count} plasser`),
  orderNumber: (id) => `ordre ${id}`,
  facts: {
    participant: 'Deltaker',
    status: 'Status nå',
    movedTo: 'Flyttet til',
    order: 'Ordrenummer',
    seats: 'Plasser',
    confirmed: 'Bekreftet',
    minimum: 'Minimum',
    budget: 'Budsjett',
    deadline: 'Frist',
  },
  taken: (count) => `${count} ${count === 1 ? 'opptatt' : 'opptatte'}`,
  free: (count) => `${count} ${count === 1 ? 'ledig' : 'ledige'}`,
  unlimited: 'ingen grense',
  waiting: (count) => `${count} på venteliste`,
};

export const noticeTexts: Record<Language, typeof en> = { en, no };
