import type { ActiveStatus, ScheduleChange } from '../mail-data.ts';
import type { LetterTexts } from './en.ts';

const places: Record<ActiveStatus, string> = {
  confirmed: 'Plassen din er bekreftet. Velkommen!',
  overbooked: 'Du har en ekstraplass. Velkommen!',
  waiting: 'Du står på venteliste, og får plass hvis en blir ledig.',
  unconfirmed: 'Påmeldingen er registrert, men skolen har ikke bekreftet plassen din ennå.',
  canceled: 'Skolen har avlyst denne datoen i mellomtiden.',
};

const changes: Record<ScheduleChange, string> = { time: 'tiden', place: 'stedet', link: 'lenken' };
const list = new Intl.ListFormat('nb');

export const no: LetterTexts = {
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
  receipt: (enrolmentStatus, school, course, isChanged) => ({
    subject: `${enrolmentStatus === 'waiting' ? 'Venteliste' : 'Påmeldingen din'}: ${course}`,
    text: [
      `${isChanged ? `Påmeldingen din hos ${school} er endret` : `Takk for påmeldingen hos ${school}`}. ${places[enrolmentStatus]}`,
    ],
  }),
  deregistration: (withFee, school, course, isDateDeleted) => ({
    subject: `Du er avmeldt: ${course}`,
    text: [
      isDateDeleted
        ? `${school} har fjernet denne datoen, så du står ikke lenger på ventelisten.`
        : `Du er ikke lenger påmeldt dette kurset hos ${school}.`,
      withFee
        ? 'Siden det var sent, påløper et gebyr etter skolens vilkår.'
        : 'Det påløper ikke noe avbestillingsgebyr.',
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
    text: [`Du er påmeldt dette kurset hos ${school}. ${places[enrolmentStatus]}`],
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
    text: [`Plassen din hos ${school} er flyttet til kurset og datoen nedenfor. ${places[enrolmentStatus]}`],
  }),
  moveOfBooking: (school, course) => ({
    subject: `En plass er flyttet: ${course}`,
    text: [`En plass i bestillingen din hos ${school} er flyttet til kurset og datoen nedenfor.`],
  }),
  dateCanceled: (school, course) => ({
    subject: `Avlyst: ${course}`,
    text: [`${school} har avlyst denne datoen.`],
  }),
  dateChanged: (school, course, changed, isReopened) => ({
    subject: `Endret: ${course}`,
    text: [
      isReopened ? `${school} hadde avlyst denne datoen. Den blir holdt likevel.` : '',
      changed.length > 0
        ? `${school} har endret ${list.format(changed.map((one) => changes[one]))} for denne datoen. Nedenfor står det som gjelder nå, og det som var før.`
        : '',
      changed.length > 0 || isReopened
        ? ''
        : `${school} har endret tid eller sted for denne datoen. Det som gjelder nå, står nedenfor.`,
    ],
  }),
  promotion: (school, course) => ({
    subject: `Du har fått plass: ${course}`,
    text: [`Du har fått plass på dette kurset hos ${school}. Velkommen!`],
  }),
  reminder: (school, course) => ({
    subject: `Snart: ${course}`,
    text: [`Kurset ditt hos ${school} begynner snart.`],
  }),
  reminderOfBooking: (school, course) => ({
    subject: `Snart: ${course}`,
    text: [
      `Kurset i bestillingen din hos ${school} begynner snart.`,
      'Du har bestilt plasser uten navn. Før opp deltakerne med lenken nedenfor.',
    ],
  }),
  bookingReceipt: (school, course) => ({
    subject: `Kvittering for bestillingen: ${course}`,
    text: [
      `Takk for bestillingen hos ${school}. Nedenfor står deltakerne, prisene, det som er betalt, og opplysningene til fakturaen.`,
    ],
  }),
  interestConfirmation: (school, course) => ({
    subject: `Bekreft: ${course}`,
    text: [
      `Noen, trolig du, vil ha beskjed når dette kurset hos ${school} får en dato: ${course}.`,
      'Bekreft det med lenken. Uten det får du ingen e-post om en dato.',
    ],
  }),
  datePublished: (school, course) => ({
    subject: `Det er en dato: ${course}`,
    text: [
      `Du ville ha beskjed: ${school} har en dato for dette kurset som kan bestilles.`,
      'Dette er den eneste e-posten om det. Du har ikke fått noen plass ennå.',
    ],
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
  addressRefused: (email, reason, subject) => ({
    subject: 'En e-postadresse er avvist',
    text: [
      `E-postserveren har avvist en e-post til ${email}. Det sendes ingen flere e-poster til denne adressen.`,
      ...(subject === null ? [] : [`Emnet i e-posten: ${subject}`]),
      `Svaret var: ${reason}`,
      'Spør personen om en annen adresse og rett den, også i kommende påmeldinger.',
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
  interestLink: {
    label: 'Bekreft',
    closing: ['Lenken virker i 7 dager. Var det ikke deg, trenger du ikke gjøre noe: da slettes adressen din.'],
  },
  dateLink: { label: 'Se datoen og bestill', closing: [] },
  ownPage: { label: 'Åpne siden min', closing: [] },
  facts: {
    participant: 'Deltaker',
    course: 'Kurs',
    date: 'Dato',
    dates: 'Datoer',
    place: 'Sted',
    before: 'Tidligere',
    link: 'Lenke',
    order: 'Ordrenummer',
    until: 'Svar innen',
    price: 'Pris',
    priceWithVat: 'Pris med mva.',
    paid: 'Betalt',
    due: 'Gjenstår å betale',
    owed: 'Du får tilbake',
    returned: 'Tilbake til gavekortet',
  },
  dueForPlace: (amount) => `Ingenting å betale nå. Får du plass, skal du betale ${amount}.`,
  dueForSome: 'plassene på ventelisten betales bare hvis du får dem',
  free: 'Gratis',
  ofWhichVat: (amount, vat) => `${amount}, hvorav mva. ${vat}`,
  forParticipants: (count) => `For de ${count} deltakerne i bestillingen`,
  andMore: (count) => `og ${count} til`,
  withoutName: (count) => (count === 1 ? 'En plass uten navn' : `${count} plasser uten navn`),
  statuses: {
    confirmed: 'Har plass',
    overbooked: 'Har ekstraplass',
    waiting: 'På venteliste',
    unconfirmed: 'Reservert',
    deregistered: 'Avmeldt',
    deregisteredWithFee: 'Avmeldt, med gebyr',
    canceled: 'Avlyst av skolen',
  },
  titles: { participants: 'Deltakere', products: 'Priser med mva.', payment: 'Betaling', invoice: 'Faktura' },
  vatOf: (percentage, amount) => `hvorav ${percentage} mva.: ${amount}`,
  withoutVat: 'uten mva.',
  discountOf: (amount) => `rabatt trukket fra: ${amount} uten mva.`,
  sums: {
    discounts: 'Rabatter, trukket fra',
    exclVat: 'Sum uten mva.',
    vat: 'Mva.',
    inclVat: 'Sum med mva.',
    credited: 'Kreditert',
    byVouchers: 'Betalt med gavekort',
    payments: 'Innbetalt',
  },
  invoice: {
    company: 'Firma',
    companyNumber: 'Org.nr.',
    address: 'Adresse',
    email: 'E-post',
    reference: 'Referanse',
    gln: 'GLN',
  },
  postponed: 'Skolen har utsatt denne datoen og gir beskjed om den nye.',
  online: 'På nett',
  regards: 'Vennlig hilsen',
  questions: 'Har du et spørsmål? Svar bare på denne e-posten.',
};
