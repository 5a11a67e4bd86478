import type { EnrolmentStatus } from '../../../../core/reference/statuses.ts';
import type { ScheduleChange } from '../mail-types.ts';
import type { LetterTexts } from './en.ts';

const places: Partial<Record<EnrolmentStatus, string>> = {
  confirmed: 'Plassen din er bekreftet. Velkommen!',
  overbooked: 'Du har en ekstraplass. Velkommen!',
  waiting: 'Du står på venteliste, og får plass hvis en blir ledig.',
  unconfirmed: 'Påmeldingen er registrert, men skolen har ikke bekreftet plassen din ennå.',
  canceled: 'Skolen har avlyst denne datoen i mellomtiden.',
};

const toPlace = (status: EnrolmentStatus) => places[status] ?? '';

const changes: Record<ScheduleChange, string> = { time: 'tiden', place: 'stedet', link: 'lenken' };
const list = new Intl.ListFormat('nb');

export const no: LetterTexts = {
  greeting: (firstname) => (firstname === '' ? 'Hei,' : `Hei ${firstname},`),
  /** The subject and the paragraphs. */
  letters: {
    invitation: ({ school, username }) => [
      `${school} har invitert deg`,
      `${school} har lagt deg til blant sine medarbeidere.`,
      `Velg et passord for kontoen din. Brukernavnet ditt er ${username}.`,
    ],
    account_created: ({ school, username }) => [
      `Kontoen din hos ${school}`,
      `Du har nå en egen side hos ${school}, med kursene dine.`,
      `Velg et passord for å åpne den. Brukernavnet ditt er ${username}.`,
    ],
    receipt: ({ status, school, title, isStatusChanged }) => [
      `${status === 'waiting' ? 'Venteliste' : 'Påmeldingen din'}: ${title}`,
      `${isStatusChanged ? `Påmeldingen din hos ${school} er endret` : `Takk for påmeldingen hos ${school}`}. ${toPlace(status)}`,
    ],
    deregistration: ({ hasFee, school, title, isDateDeleted }) => [
      `Du er avmeldt: ${title}`,
      isDateDeleted
        ? `${school} har fjernet denne datoen, så du står ikke lenger på ventelisten.`
        : `Du er ikke lenger påmeldt dette kurset hos ${school}.`,
      hasFee
        ? 'Siden det var sent, påløper et gebyr etter skolens vilkår.'
        : 'Det påløper ikke noe avbestillingsgebyr.',
      'Hvis dette er uventet, ta kontakt med skolen.',
    ],
    offer: ({ school, title }) => [
      `En plass er ledig: ${title}`,
      `En plass er blitt ledig på dette kurset hos ${school}, og den holdes av til deg.`,
      'Takk ja eller nei til den. Uten svar i tide går den til neste person.',
    ],
    booking_link: ({ school, title }) => [
      `Bestillingen din: ${title}`,
      `Denne lenken viser bestillingen din hos ${school}: deltakerne, beløpene og det som gjenstår å betale.`,
      'Hvis du har bestilt plasser uten navn, kan du føre opp deltakerne der.',
    ],
    swap: ({ status, school, title }) => [
      `Plassen din: ${title}`,
      `Du er påmeldt dette kurset hos ${school}. ${toPlace(status)}`,
    ],
    swapped_out: ({ school, title }) => [
      `Du er ikke lenger påmeldt: ${title}`,
      `Plassen din på dette kurset hos ${school} har gått til en annen person.`,
      'Hvis dette er uventet, ta kontakt med skolen.',
    ],
    move: ({ status, school, title }) => [
      `Plassen din er flyttet: ${title}`,
      `Plassen din hos ${school} er flyttet til kurset og datoen nedenfor. ${toPlace(status)}`,
    ],
    move_of_booking: ({ school, title }) => [
      `En plass er flyttet: ${title}`,
      `En plass i bestillingen din hos ${school} er flyttet til kurset og datoen nedenfor.`,
    ],
    date_canceled: ({ school, title }) => [`Avlyst: ${title}`, `${school} har avlyst denne datoen.`],
    date_changed: ({ school, title, changed, isReopened }) => [
      `Endret: ${title}`,
      isReopened ? `${school} hadde avlyst denne datoen. Den blir holdt likevel.` : '',
      changed.length > 0
        ? `${school} har endret ${list.format(changed.map((one) => changes[one]))} for denne datoen. Nedenfor står det som gjelder nå, og det som var før.`
        : '',
      changed.length > 0 || isReopened
        ? ''
        : `${school} har endret tid eller sted for denne datoen. Det som gjelder nå, står nedenfor.`,
    ],
    promotion: ({ school, title }) => [
      `Du har fått plass: ${title}`,
      `Du har fått plass på dette kurset hos ${school}. Velkommen!`,
    ],
    reminder: ({ school, title }) => [`Snart: ${title}`, `Kurset ditt hos ${school} begynner snart.`],
    reminder_of_booking: ({ school, title }) => [
      `Snart: ${title}`,
      `Kurset i bestillingen din hos ${school} begynner snart.`,
      'Du har bestilt plasser uten navn. Før opp deltakerne med lenken nedenfor.',
    ],
    booking_receipt: ({ school, title }) => [
      `Kvittering for bestillingen: ${title}`,
      `Takk for bestillingen hos ${school}. Nedenfor står deltakerne, prisene, det som er betalt, og opplysningene til fakturaen.`,
    ],
    interest_confirmation: ({ school, title }) => [
      `Bekreft: ${title}`,
      `Noen, trolig du, vil ha beskjed når dette kurset hos ${school} får en dato: ${title}.`,
      'Bekreft det med lenken. Uten det får du ingen e-post om en dato.',
    ],
    date_published: ({ school, title }) => [
      `Det er en dato: ${title}`,
      `Du ville ha beskjed: ${school} har en dato for dette kurset som kan bestilles.`,
      'Dette er den eneste e-posten om det. Du har ikke fått noen plass ennå.',
    ],
    moved_away: ({ school, title }) => [
      `Ikke lenger på denne datoen: ${title}`,
      `Plassen din hos ${school} på datoen nedenfor er avsluttet, siden den er flyttet til en annen dato.`,
    ],
    webhook_disabled: ({ reason, host }) => [
      'En webhook hos skolen din er slått av',
      `Endringer sendes ikke lenger til ${host}.`,
      reason === 'gone'
        ? 'Serveren der har svart at den ikke vil ha flere meldinger (410).'
        : 'Alle forsøk har mislyktes i 5 dager.',
      'Slå på webhooken når serveren virker igjen. Den fortsetter der den stoppet.',
    ],
    address_refused: ({ email, reason, subject }) => [
      'En e-postadresse er avvist',
      `E-postserveren har avvist en e-post til ${email}. Det sendes ingen flere e-poster til denne adressen.`,
      ...(subject === null ? [] : [`Emnet i e-posten: ${subject}`]),
      `Svaret var: ${reason}`,
      'Spør personen om en annen adresse og rett den, også i kommende påmeldinger.',
    ],
  },
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
  notices: {
    letters: {
      notice_booked: ['Påmeldt', 'Det er en ny påmelding til denne datoen.'],
      notice_canceled: ['Avmeldt', 'Det er en avmelding fra denne datoen.'],
      moved_away: ['Flyttet', 'En deltaker er flyttet fra denne datoen til en annen.'],
      notice_full: ['Fullbooket', 'Alle plassene på denne datoen er tatt.'],
      notice_under_minimum: [
        'Under minimum',
        'Denne datoen har færre bekreftede deltakere enn minimum, og fristen er nær.',
      ],
      notice_budget: [
        'Budsjettet er nådd',
        'Denne datoen har så mange bekreftede deltakere som stedet har budsjettert med.',
      ],
    },
    digest: (count) => [
      `${count} varsler om påmeldinger og kursdatoer`,
      'Mange varsler til deg ventet samtidig, så denne e-posten lister opp alle.',
    ],
    why: 'Skolens innstillinger for bestilling avgjør hvilke varsler som sendes.',
    offered: 'Har tilbud om plass',
    withoutName: 'Uten navn',
    places: (count) => (count === 1 ? '1 plass' : `${count} plasser`),
    orderNumber: (id) => `ordre ${id}`,
    facts: {
      status: 'Status nå',
      movedTo: 'Flyttet til',
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
  },
};
