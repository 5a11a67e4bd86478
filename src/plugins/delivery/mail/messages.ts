import type { Language } from '../../../core/reference/language.ts';
import type { EnrolmentStatus } from '../../../core/reference/statuses.ts';

export type ActiveStatus = Exclude<EnrolmentStatus, 'deregistered' | 'deregisteredWithFee'>;

export type DisabledReason = 'failing' | 'gone';

const placesEn: Record<ActiveStatus, string> = {
  confirmed: 'Your place is confirmed. Welcome!',
  overbooked: 'You have an extra place. Welcome!',
  waiting: 'You are on the waiting list, and get a place if one becomes free; your page shows it.',
  unconfirmed: 'Your booking is registered, and the school has yet to confirm your place.',
  canceled: 'The school has canceled this date since.',
};

const en = {
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
  receipt: (enrolmentStatus: ActiveStatus, school: string, course: string) => ({
    subject: `${enrolmentStatus === 'waiting' ? 'Waiting list' : 'Your booking'}: ${course}`,
    text: [`Thank you for booking with ${school}. ${placesEn[enrolmentStatus]}`],
  }),
  deregistration: (withFee: boolean, school: string, course: string) => ({
    subject: `You are deregistered: ${course}`,
    text: [
      `You are no longer registered for this course at ${school}.`,
      ...(withFee ? ['As it was late, a fee is charged by the terms of the school.'] : []),
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
    text: [`You are registered for this course at ${school}. ${placesEn[enrolmentStatus]}`],
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
    text: [`Your place at ${school} is moved to the course and date below. ${placesEn[enrolmentStatus]}`],
  }),
  moveOfBooking: (school: string, course: string) => ({
    subject: `A place is moved: ${course}`,
    text: [`A place of your booking at ${school} is moved to the course and date below.`],
  }),
  dateCanceled: (school: string, course: string, message: string) => ({
    subject: `Canceled: ${course}`,
    text: [`${school} has canceled this date.`, message],
  }),
  dateChanged: (school: string, course: string) => ({
    subject: `Changed: ${course}`,
    text: [`${school} has changed the time or place of this date. What holds now is below.`],
  }),
  promotion: (school: string, course: string) => ({
    subject: `You have a place: ${course}`,
    text: [`You have a place on this course at ${school}. Welcome!`],
  }),
  reminder: (school: string, course: string) => ({
    subject: `Soon: ${course}`,
    text: [`Your course at ${school} begins soon.`],
  }),
  bookingReceipt: (school: string, course: string) => ({
    subject: `Receipt of your booking: ${course}`,
    text: [`Thank you for booking with ${school}.`],
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
  facts: {
    participant: 'Participant',
    course: 'Course',
    date: 'Date',
    dates: 'Dates',
    place: 'Place',
    link: 'Link',
    order: 'Order number',
    until: 'Answer by',
  },
  online: 'Online',
  regards: 'Kind regards',
  questions: 'Do you have a question? Just answer this e-mail.',
};

/** The texts of letters in one language. */
export type LetterTexts = typeof en;

const placesNo: Record<ActiveStatus, string> = {
  confirmed: 'Plassen din er bekreftet. Velkommen!',
  overbooked: 'Du har en ekstraplass. Velkommen!',
  waiting: 'Du står på venteliste, og får plass hvis en blir ledig; siden din viser det.',
  unconfirmed: 'Påmeldingen er registrert, men skolen har ikke bekreftet plassen din ennå.',
  canceled: 'Skolen har avlyst denne datoen siden.',
};

const no: LetterTexts = {
  greeting: (firstname) => (firstname === '' ? 'Hei,' : `Hei ${firstname},`),
  invitation: (school, username) => ({
    subject: `${school} har invitert deg`,
    text: [
      `${school} har lagt deg til blant sine medarbeidere.`,
      `Velg et passord for kontoen din. Brukernavnet ditt er ${username}.`,
    ],
  }),
  accountCreated: (school, username) => ({
    subject: `Kontoen din hos ${school}`,
    text: [
      `Du har nå en egen side hos ${school}, med kursene dine.`,
      `Velg et passord for å åpne den. Brukernavnet ditt er ${username}.`,
    ],
  }),
  receipt: (enrolmentStatus, school, course) => ({
    subject: `${enrolmentStatus === 'waiting' ? 'Venteliste' : 'Påmeldingen din'}: ${course}`,
    text: [`Takk for påmeldingen hos ${school}. ${placesNo[enrolmentStatus]}`],
  }),
  deregistration: (withFee, school, course) => ({
    subject: `Du er avmeldt: ${course}`,
    text: [
      `Du er ikke lenger påmeldt dette kurset hos ${school}.`,
      ...(withFee ? ['Siden det var sent, påløper et gebyr etter skolens vilkår.'] : []),
      'Hvis dette er uventet, ta kontakt med skolen.',
    ],
  }),
  offer: (school, course) => ({
    subject: `En plass er ledig: ${course}`,
    text: [
      `En plass er blitt ledig på dette kurset hos ${school}, og den holdes av til deg.`,
      'Takk ja eller nei til den. Uten svar i tide går den til neste person.',
    ],
  }),
  bookingLink: (school, course) => ({
    subject: `Bestillingen din: ${course}`,
    text: [
      `Denne lenken viser bestillingen din hos ${school}: deltakerne, beløpene og det som gjenstår å betale.`,
      'Hvis du har bestilt plasser uten navn, kan du føre opp deltakerne der.',
    ],
  }),
  swap: (enrolmentStatus, school, course) => ({
    subject: `Plassen din: ${course}`,
    text: [`Du er påmeldt dette kurset hos ${school}. ${placesNo[enrolmentStatus]}`],
  }),
  swappedOut: (school, course) => ({
    subject: `Du er ikke lenger påmeldt: ${course}`,
    text: [
      `Plassen din på dette kurset hos ${school} har gått til en annen person.`,
      'Hvis dette er uventet, ta kontakt med skolen.',
    ],
  }),
  move: (enrolmentStatus, school, course) => ({
    subject: `Plassen din er flyttet: ${course}`,
    text: [`Plassen din hos ${school} er flyttet til kurset og datoen nedenfor. ${placesNo[enrolmentStatus]}`],
  }),
  moveOfBooking: (school, course) => ({
    subject: `En plass er flyttet: ${course}`,
    text: [`En plass i bestillingen din hos ${school} er flyttet til kurset og datoen nedenfor.`],
  }),
  dateCanceled: (school, course, message) => ({
    subject: `Avlyst: ${course}`,
    text: [`${school} har avlyst denne datoen.`, message],
  }),
  dateChanged: (school, course) => ({
    subject: `Endret: ${course}`,
    text: [`${school} har endret tid eller sted for denne datoen. Det som gjelder nå, står nedenfor.`],
  }),
  promotion: (school, course) => ({
    subject: `Du har fått plass: ${course}`,
    text: [`Du har fått plass på dette kurset hos ${school}. Velkommen!`],
  }),
  reminder: (school, course) => ({
    subject: `Snart: ${course}`,
    text: [`Kurset ditt hos ${school} begynner snart.`],
  }),
  bookingReceipt: (school, course) => ({
    subject: `Kvittering for bestillingen: ${course}`,
    text: [`Takk for bestillingen hos ${school}.`],
  }),
  movedAway: (school, course) => ({
    subject: `Ikke lenger på denne datoen: ${course}`,
    text: [`Plassen din hos ${school} på datoen nedenfor er avsluttet, siden den er flyttet til en annen dato.`],
  }),
  webhookDisabled: (reason, host) => ({
    subject: 'En webhook hos skolen din er slått av',
    text: [
      `Endringer sendes ikke lenger til ${host}.`,
      reason === 'gone'
        ? 'Serveren der har svart at den ikke vil ha flere meldinger (410).'
        : 'Alle forsøk har mislyktes i 5 dager.',
      'Slå på webhooken når serveren virker igjen. Den fortsetter der den stoppet.',
    ],
  }),
  passwordLink: (school) => ({
    label: 'Velg et passord',
    closing: [
      `Lenken virker én gang, i 7 dager. Etter det kan du be ${school} om en ny.`,
      'Hvis denne e-posten er uventet, trenger du ikke gjøre noe.',
    ],
  }),
  offerLink: {
    label: 'Takk ja eller nei',
    closing: ['Hold lenken for deg selv: den som har den, kan svare for deg.'],
  },
  payerLink: {
    label: 'Vis bestillingen',
    closing: ['Lenken virker til kurset er over. Hold den for deg selv: den som har den, ser bestillingen.'],
  },
  facts: {
    participant: 'Deltaker',
    course: 'Kurs',
    date: 'Dato',
    dates: 'Datoer',
    place: 'Sted',
    link: 'Lenke',
    order: 'Ordrenummer',
    until: 'Svar innen',
  },
  online: 'På nett',
  regards: 'Vennlig hilsen',
  questions: 'Har du et spørsmål? Svar bare på denne e-posten.',
};

export const letterTexts: Record<Language, LetterTexts> = { en, no };
