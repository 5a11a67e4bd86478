import type { EnrolmentStatus } from '../../../../core/reference/statuses.ts';
import type { ActiveStatus, DisabledReason, ScheduleChange } from '../mail-data.ts';

const places: Record<ActiveStatus, string> = {
  confirmed: 'Your place is confirmed. Welcome!',
  overbooked: 'You have an extra place. Welcome!',
  waiting: 'You are on the waiting list, and get a place if one becomes free.',
  unconfirmed: 'Your booking is registered, and the school has yet to confirm your place.',
  canceled: 'The school has canceled this date in the meantime.',
};

const changes: Record<ScheduleChange, string> = { time: 'the time', place: 'the place', link: 'the link' };
const list = new Intl.ListFormat('en-GB');

export const en = {
  greeting: (firstname: string) => (firstname === '' ? 'Hello,' : `Hello ${firstname},`),
  invitation: (school: string, username: string) => ({
    subject: `${school} has invited you`,
    text: [
      `${school} has added you to its staff.`,
      `Choose a password for your account. Your username is ${username}.`,
    ],
  }),
  accountCreated: (school: string, username: string) => ({
    subject: `Your account at ${school}`,
    text: [
      `You now have a page of your own at ${school}, with your courses on it.`,
      `Choose a password to open it. Your username is ${username}.`,
    ],
  }),
  receipt: (enrolmentStatus: ActiveStatus, school: string, course: string, isChanged: boolean) => ({
    subject: `${enrolmentStatus === 'waiting' ? 'Waiting list' : 'Your booking'}: ${course}`,
    text: [
      `${isChanged ? `Your booking with ${school} has changed` : `Thank you for booking with ${school}`}. ${places[enrolmentStatus]}`,
    ],
  }),
  deregistration: (withFee: boolean, school: string, course: string, isDateDeleted: boolean) => ({
    subject: `You are deregistered: ${course}`,
    text: [
      isDateDeleted
        ? `${school} has removed this date, so you are no longer on its waiting list.`
        : `You are no longer registered for this course at ${school}.`,
      withFee ? 'As it was late, a fee is charged by the terms of the school.' : 'No cancellation fee is charged.',
      'If you did not expect this, please contact the school.',
    ],
  }),
  offer: (school: string, course: string) => ({
    subject: `A place is free: ${course}`,
    text: [
      `A place has become free on this course at ${school}, and it is held for you.`,
      'Please accept or decline it. Without an answer in time it goes to the next person.',
    ],
  }),
  bookingLink: (school: string, course: string) => ({
    subject: `Your booking: ${course}`,
    text: [
      `This link shows your booking at ${school}: the participants, the amounts, and what is left to pay.`,
      'If you have booked places without names, you can name the participants there.',
    ],
  }),
  /** To the new participant. */
  swap: (enrolmentStatus: ActiveStatus, school: string, course: string) => ({
    subject: `Your place: ${course}`,
    text: [`You are registered for this course at ${school}. ${places[enrolmentStatus]}`],
  }),
  /** To the participant before. */
  swappedOut: (school: string, course: string) => ({
    subject: `You are no longer registered: ${course}`,
    text: [
      `Your place on this course at ${school} has gone to another person.`,
      'If you did not expect this, please contact the school.',
    ],
  }),
  move: (enrolmentStatus: ActiveStatus, school: string, course: string) => ({
    subject: `Your place is moved: ${course}`,
    text: [`Your place at ${school} is moved to the course and date below. ${places[enrolmentStatus]}`],
  }),
  moveOfBooking: (school: string, course: string) => ({
    subject: `A place is moved: ${course}`,
    text: [`A place of your booking at ${school} is moved to the course and date below.`],
  }),
  dateCanceled: (school: string, course: string) => ({
    subject: `Canceled: ${course}`,
    text: [`${school} has canceled this date.`],
  }),
  dateChanged: (school: string, course: string, changed: ScheduleChange[], isReopened: boolean) => ({
    subject: `Changed: ${course}`,
    text: [
      isReopened ? `${school} had canceled this date. It takes place after all.` : '',
      changed.length > 0
        ? `${school} has changed ${list.format(changed.map((one) => changes[one]))} of this date. Below is what holds now, and what was before.`
        : '',
      changed.length > 0 || isReopened
        ? ''
        : `${school} has changed the time or place of this date. The current data is below.`,
    ],
  }),
  promotion: (school: string, course: string) => ({
    subject: `You have a place: ${course}`,
    text: [`You have a place on this course at ${school}. Welcome!`],
  }),
  reminder: (school: string, course: string) => ({
    subject: `Soon: ${course}`,
    text: [`Your course at ${school} begins soon.`],
  }),
  reminderOfBooking: (school: string, course: string) => ({
    subject: `Soon: ${course}`,
    text: [
      `The course of your booking at ${school} begins soon.`,
      'You have booked places without names. Please name the participants by the link below.',
    ],
  }),
  bookingReceipt: (school: string, course: string) => ({
    subject: `Receipt of your booking: ${course}`,
    text: [
      `Thank you for booking with ${school}. Below are the participants, the prices, what is paid, and the data of the invoice.`,
    ],
  }),
  interestConfirmation: (school: string, course: string) => ({
    subject: `Please confirm: ${course}`,
    text: [
      `Somebody, probably you, asked for an e-mail when there is a date of this course at ${school}: ${course}.`,
      'Please confirm it by the link. Without that you get no e-mail about a date.',
    ],
  }),
  datePublished: (school: string, course: string) => ({
    subject: `There is a date: ${course}`,
    text: [
      `As you asked for: ${school} has a date of this course that can be booked.`,
      'This is the only e-mail about it. Your place is not reserved.',
    ],
  }),
  movedAway: (school: string, course: string) => ({
    subject: `No longer on this date: ${course}`,
    text: [`Your place at ${school} on the date below has ended, since it is moved to another date.`],
  }),
  webhookDisabled: (reason: DisabledReason, host: string) => ({
    subject: 'A webhook of your school is switched off',
    text: [
      `Changes are not sent to ${host} any more.`,
      reason === 'gone'
        ? 'The server there has answered that it wants no more messages (410).'
        : 'Every attempt has failed for 5 days.',
      'When the server works again, switch the webhook on. It continues where it stopped.',
    ],
  }),
  addressRefused: (email: string, reason: string, subject: string | null) => ({
    subject: 'An e-mail address is refused',
    text: [
      `The mail server has refused a mail to ${email}. No more mails are sent to this address.`,
      ...(subject === null ? [] : [`Subject of the mail: ${subject}`]),
      `Its answer: ${reason}`,
      'Ask the person for another address and correct it, also in coming bookings.',
    ],
  }),
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
};

/** The texts of letters in one language. */
export type LetterTexts = typeof en;
