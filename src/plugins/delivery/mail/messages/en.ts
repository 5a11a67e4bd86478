import type { EnrolmentStatus } from '../../../../core/reference/statuses.ts';
import type { MailPurpose } from '../../../../database/tables/outbox.ts';
import type { disabledReasons } from '../../../../database/tables/webhooks.ts';
import type { PlaceLetter, ScheduleChange } from '../mail-types.ts';

type Opening = [subject: string, ...text: string[]];
type About = { school: string; title: string };
type AboutPlace = About & {
  status: EnrolmentStatus;
  isStatusChanged: boolean;
  hasFee: boolean;
  isDateDeleted: boolean;
  changed: ScheduleChange[];
  /** True for a date that had been canceled. */
  isReopened: boolean;
};
/** The subject and the paragraphs. */
type Letters = Record<PlaceLetter, (place: AboutPlace) => Opening> &
  Record<'invitation' | 'account_created', (account: { school: string; username: string }) => Opening> &
  Record<'interest_confirmation' | 'date_published', (course: About) => Opening> & {
    webhook_disabled(webhook: { reason: (typeof disabledReasons)[number]; host: string }): Opening;
    /** `subject` is null for a mail of an earlier version. */
    address_refused(refused: { email: string; reason: string; subject: string | null }): Opening;
  };
/** Mails to the school about its dates and their participants; `moved_away` to those who are told of the former date. */
export type NoticePurpose = Extract<MailPurpose, `notice_${string}` | 'moved_away'>;

const places: Partial<Record<EnrolmentStatus, string>> = {
  confirmed: 'Your place is confirmed. Welcome!',
  overbooked: 'You have an extra place. Welcome!',
  waiting: 'You are on the waiting list, and get a place if one becomes free.',
  unconfirmed: 'Your booking is registered, and the school has yet to confirm your place.',
  canceled: 'The school has canceled this date in the meantime.',
};

const toPlace = (status: EnrolmentStatus) => places[status] ?? '';

const changes: Record<ScheduleChange, string> = { time: 'the time', place: 'the place', link: 'the link' };
const list = new Intl.ListFormat('en-GB');

const letters: Letters = {
  invitation: ({ school, username }) => [
    `${school} has invited you`,
    `${school} has added you to its staff.`,
    `Choose a password for your account. Your username is ${username}.`,
  ],
  account_created: ({ school, username }) => [
    `Your account at ${school}`,
    `You now have a page of your own at ${school}, with your courses on it.`,
    `Choose a password to open it. Your username is ${username}.`,
  ],
  receipt: ({ status, school, title, isStatusChanged }) => [
    `${status === 'waiting' ? 'Waiting list' : 'Your booking'}: ${title}`,
    `${isStatusChanged ? `Your booking with ${school} has changed` : `Thank you for booking with ${school}`}. ${toPlace(status)}`,
  ],
  deregistration: ({ hasFee, school, title, isDateDeleted }) => [
    `You are deregistered: ${title}`,
    isDateDeleted
      ? `${school} has removed this date, so you are no longer on its waiting list.`
      : `You are no longer registered for this course at ${school}.`,
    hasFee ? 'As it was late, a fee is charged by the terms of the school.' : 'No cancellation fee is charged.',
    'If you did not expect this, please contact the school.',
  ],
  offer: ({ school, title }) => [
    `A place is free: ${title}`,
    `A place has become free on this course at ${school}, and it is held for you.`,
    'Please accept or decline it. Without an answer in time it goes to the next person.',
  ],
  booking_link: ({ school, title }) => [
    `Your booking: ${title}`,
    `This link shows your booking at ${school}: the participants, the amounts, and what is left to pay.`,
    'If you have booked places without names, you can name the participants there.',
  ],
  /** The new participant gets it. */
  swap: ({ status, school, title }) => [
    `Your place: ${title}`,
    `You are registered for this course at ${school}. ${toPlace(status)}`,
  ],
  /** The participant before gets it. */
  swapped_out: ({ school, title }) => [
    `You are no longer registered: ${title}`,
    `Your place on this course at ${school} has gone to another person.`,
    'If you did not expect this, please contact the school.',
  ],
  move: ({ status, school, title }) => [
    `Your place is moved: ${title}`,
    `Your place at ${school} is moved to the course and date below. ${toPlace(status)}`,
  ],
  move_of_booking: ({ school, title }) => [
    `A place is moved: ${title}`,
    `A place of your booking at ${school} is moved to the course and date below.`,
  ],
  date_canceled: ({ school, title }) => [`Canceled: ${title}`, `${school} has canceled this date.`],
  date_changed: ({ school, title, changed, isReopened }) => [
    `Changed: ${title}`,
    isReopened ? `${school} had canceled this date. It takes place after all.` : '',
    changed.length > 0
      ? `${school} has changed ${list.format(changed.map((one) => changes[one]))} of this date. Below is what holds now, and what was before.`
      : '',
    changed.length > 0 || isReopened
      ? ''
      : `${school} has changed the time or place of this date. The current data is below.`,
  ],
  promotion: ({ school, title }) => [
    `You have a place: ${title}`,
    `You have a place on this course at ${school}. Welcome!`,
  ],
  reminder: ({ school, title }) => [`Soon: ${title}`, `Your course at ${school} begins soon.`],
  reminder_of_booking: ({ school, title }) => [
    `Soon: ${title}`,
    `The course of your booking at ${school} begins soon.`,
    'You have booked places without names. Please name the participants by the link below.',
  ],
  booking_receipt: ({ school, title }) => [
    `Receipt of your booking: ${title}`,
    `Thank you for booking with ${school}. Below are the participants, the prices, what is paid, and the data of the invoice.`,
  ],
  interest_confirmation: ({ school, title }) => [
    `Please confirm: ${title}`,
    `Somebody, probably you, asked for an e-mail when there is a date of this course at ${school}: ${title}.`,
    'Please confirm it by the link. Without that you get no e-mail about a date.',
  ],
  date_published: ({ school, title }) => [
    `There is a date: ${title}`,
    `As you asked for: ${school} has a date of this course that can be booked.`,
    'This is the only e-mail about it. Your place is not reserved.',
  ],
  moved_away: ({ school, title }) => [
    `No longer on this date: ${title}`,
    `Your place at ${school} on the date below has ended, since it is moved to another date.`,
  ],
  webhook_disabled: ({ reason, host }) => [
    'A webhook of your school is switched off',
    `Changes are not sent to ${host} any more.`,
    reason === 'gone'
      ? 'The server there has answered that it wants no more messages (410).'
      : 'Every attempt has failed for 5 days.',
    'When the server works again, switch the webhook on. It continues where it stopped.',
  ],
  address_refused: ({ email, reason, subject }) => [
    'An e-mail address is refused',
    `The mail server has refused a mail to ${email}. No more mails are sent to this address.`,
    ...(subject === null ? [] : [`Subject of the mail: ${subject}`]),
    `Its answer: ${reason}`,
    'Ask the person for another address and correct it, also in coming bookings.',
  ],
};

/** The kind and the opening. */
const noticeLetters: Record<NoticePurpose, [kind: string, opening: string]> = {
  notice_booked: ['Booked', 'There is a new booking of this date.'],
  notice_canceled: ['Deregistered', 'There is a cancellation on this date.'],
  moved_away: ['Moved', 'A participant is moved from this date to another one.'],
  notice_full: ['Fully booked', 'All seats of this date are taken.'],
  notice_under_minimum: [
    'Under the minimum',
    'This date has fewer confirmed participants than its minimum, and its deadline is near.',
  ],
  notice_budget: ['Budget reached', 'This date has as many confirmed participants as the budget of its location.'],
};

export const en = {
  greeting: (firstname: string) => (firstname === '' ? 'Hello,' : `Hello ${firstname},`),
  letters,
  /** Explains how long the link works. */
  passwordLink: (school: string) => ({
    label: 'Choose a password',
    closing: [
      `The link works once, for 7 days. After that, ask ${school} for a new one.`,
      'If you did not expect this e-mail, you need do nothing.',
    ],
  }),
  offerLink: { label: 'Accept or decline', closing: ['Keep the link to yourself: whoever has it can answer for you.'] },
  payerLink: {
    label: 'Show the booking',
    closing: ['The link works until the course is over. Keep it to yourself: whoever has it sees the booking.'],
  },
  interestLink: {
    label: 'Confirm',
    closing: ['The link works for 7 days. If it was not you, you need do nothing: your address is deleted then.'],
  },
  dateLink: { label: 'See the date and book', closing: [] as string[] },
  ownPage: { label: 'Open my page', closing: [] as string[] },
  facts: {
    participant: 'Participant',
    course: 'Course',
    date: 'Date',
    dates: 'Dates',
    place: 'Place',
    before: 'Before',
    link: 'Link',
    order: 'Order number',
    until: 'Answer by',
    price: 'Price',
    priceWithVat: 'Price with VAT',
    paid: 'Paid',
    due: 'Left to pay',
    owed: 'You get back',
    returned: 'Back to the voucher',
  },
  dueForPlace: (amount: string) => `Nothing to pay now. ${amount} is due if you get a place.`,
  dueForSome: 'the places on the waiting list are due only if you get them',
  free: 'Free of charge',
  ofWhichVat: (amount: string, vat: string) => `${amount}, of which VAT ${vat}`,
  forParticipants: (count: number) => `For the ${count} participants of the booking`,
  andMore: (count: number) => `and ${count} more`,
  withoutName: (count: number) => (count === 1 ? 'A place without a name' : `${count} places without names`),
  statuses: {
    confirmed: 'Has a place',
    overbooked: 'Has an extra place',
    waiting: 'On the waiting list',
    unconfirmed: 'Reserved',
    deregistered: 'Deregistered',
    deregisteredWithFee: 'Deregistered, with a fee',
    canceled: 'Canceled by the school',
  } satisfies Record<EnrolmentStatus, string>,
  titles: { participants: 'Participants', products: 'Prices with VAT', payment: 'Payment', invoice: 'Invoice' },
  vatOf: (percentage: string, amount: string) => `of which ${percentage} VAT: ${amount}`,
  withoutVat: 'no VAT',
  discountOf: (amount: string) => `discount deducted: ${amount} without VAT`,
  sums: {
    discounts: 'Discounts, deducted',
    exclVat: 'Total without VAT',
    vat: 'VAT',
    inclVat: 'Total with VAT',
    credited: 'Credited',
    byVouchers: 'Paid by voucher',
    payments: 'Payments',
  },
  invoice: {
    company: 'Company',
    companyNumber: 'Organization number',
    address: 'Address',
    email: 'E-mail',
    reference: 'Reference',
    gln: 'GLN',
  },
  postponed: 'The school has postponed this date and will tell you the new one.',
  online: 'Online',
  regards: 'Kind regards',
  questions: 'Do you have a question? Just answer this e-mail.',
  notices: {
    letters: noticeLetters,
    digest: (count: number): Opening => [
      `${count} notices of bookings and course dates`,
      'Many notices to you were waiting at once, so this mail lists them all.',
    ],
    why: 'The booking settings of your school decide which notices are sent.',
    offered: 'Has an offer of a place',
    withoutName: 'Without a name',
    places: (count: number) => (count === 1 ? '1 place' : `${count} places`),
    orderNumber: (id: number) => `order ${id}`,
    facts: {
      status: 'Status now',
      movedTo: 'Moved to',
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
  },
};

/** The texts of letters in one language. */
export type LetterTexts = typeof en;
