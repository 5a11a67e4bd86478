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
  swap: (enrolmentStatus: ActiveStatus, school: string, course: string) => ({
    subject: `You take part: ${course}`,
    text: [`You have a place at ${school} that was booked for another person. ${placesEn[enrolmentStatus]}`],
  }),
  move: (enrolmentStatus: ActiveStatus, school: string, course: string) => ({
    subject: `Another date: ${course}`,
    text: [`${school} has moved you to another date. ${placesEn[enrolmentStatus]}`],
  }),
  offer: (school: string, course: string) => ({
    subject: `A free place: ${course}`,
    text: [
      `A place at ${school} is free, and held for you for a while.`,
      'Tell the school that you take it; otherwise the next person on the waiting list gets it.',
    ],
  }),
  deregistration: (withFee: boolean, school: string, course: string) => ({
    subject: `You are deregistered: ${course}`,
    text: [
      `You are no longer registered for this course at ${school}.`,
      ...(withFee ? ['As it was late, a fee is charged by the terms of the school.'] : []),
      'If you did not expect this, please contact the school.',
    ],
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
  choosePassword: 'Choose a password',
  /** Explains that the link works once. */
  onceOnly: (school: string) => [
    `The link works once, for 7 days. After that, ask ${school} for a new one.`,
    'If you did not expect this e-mail, you need do nothing.',
  ],
  facts: {
    participant: 'Participant',
    course: 'Course',
    date: 'Date',
    dates: 'Dates',
    place: 'Place',
    link: 'Link',
    order: 'Order number',
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
  swap: (enrolmentStatus, school, course) => ({
    subject: `Du deltar: ${course}`,
    text: [`Du har fått en plass hos ${school} som var bestilt for en annen. ${placesNo[enrolmentStatus]}`],
  }),
  move: (enrolmentStatus, school, course) => ({
    subject: `Ny dato: ${course}`,
    text: [`${school} har flyttet deg til en annen dato. ${placesNo[enrolmentStatus]}`],
  }),
  offer: (school, course) => ({
    subject: `Ledig plass: ${course}`,
    text: [
      `En plass hos ${school} er ledig, og holdes av til deg en stund.`,
      'Si fra til skolen at du tar den; ellers får neste på ventelisten den.',
    ],
  }),
  deregistration: (withFee, school, course) => ({
    subject: `Du er avmeldt: ${course}`,
    text: [
      `Du er ikke lenger påmeldt dette kurset hos ${school}.`,
      ...(withFee ? ['Siden det var sent, påløper et gebyr etter skolens vilkår.'] : []),
      'Hvis dette er uventet, ta kontakt med skolen.',
    ],
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
  choosePassword: 'Velg et passord',
  onceOnly: (school) => [
    `Lenken virker én gang, i 7 dager. Etter det kan du be ${school} om en ny.`,
    'Hvis denne e-posten er uventet, trenger du ikke gjøre noe.',
  ],
  facts: {
    participant: 'Deltaker',
    course: 'Kurs',
    date: 'Dato',
    dates: 'Datoer',
    place: 'Sted',
    link: 'Lenke',
    order: 'Ordrenummer',
  },
  online: 'På nett',
  regards: 'Vennlig hilsen',
  questions: 'Har du et spørsmål? Svar bare på denne e-posten.',
};

export const letterTexts: Record<Language, LetterTexts> = { en, no };
