import { plusDays, type Calendar } from './calendar.ts';
import { lines, type Line } from './lines.ts';

const roles = lines('role', [
  { ref: 'administrator', title: 'Administrator' },
  { ref: 'kurs', title: 'Kursadministrator', description: 'Setter opp kurs, datoer og kursholdere' },
  { ref: 'salg', title: 'Bedriftsselger', description: 'Følger opp bedriftskunder og avtaler' },
  { ref: 'okonomi', title: 'Økonomi', description: 'Fakturerer og eksporterer ordrer' },
  { ref: 'holder', title: 'Kursholder', description: 'Fører oppmøte på egne kurs' },
]);

const adminUsers = lines('admin_user', [
  {
    ref: 'solveig',
    email: 'solveig.haugland@fjordkurs.example',
    firstname: 'Solveig',
    lastname: 'Haugland',
    position: 'Daglig leder',
    phone_prefix: '+47',
    phone: '55 00 12 41',
    role_ids: ['administrator'],
  },
  {
    ref: 'marius',
    email: 'marius.tveit@fjordkurs.example',
    firstname: 'Marius',
    lastname: 'Tveit',
    position: 'Kurskoordinator',
    phone_prefix: '+47',
    phone: '55 00 12 42',
    booking_email: 'pamelding@fjordkurs.example',
    role_ids: ['kurs'],
  },
  {
    ref: 'hanne',
    email: 'hanne.mjelde@fjordkurs.example',
    firstname: 'Hanne',
    lastname: 'Mjelde',
    position: 'Rådgiver bedrift',
    phone_prefix: '+47',
    phone: '55 00 12 43',
    booking_email: 'bedrift@fjordkurs.example',
    role_ids: ['salg'],
  },
  {
    ref: 'farida',
    email: 'farida.noori@fjordkurs.example',
    firstname: 'Farida',
    lastname: 'Noori',
    position: 'Kurskoordinator og rådgiver',
    phone_prefix: '+47',
    phone: '55 00 12 44',
    role_ids: ['kurs', 'salg'],
  },
  {
    ref: 'arne',
    email: 'arne.saele@fjordkurs.example',
    firstname: 'Arne',
    lastname: 'Sæle',
    position: 'Regnskapsansvarlig',
    phone_prefix: '+47',
    phone: '55 00 12 45',
    role_ids: ['okonomi'],
  },
  {
    ref: 'emil',
    email: 'emil.vagenes@fjordkurs.example',
    firstname: 'Emil',
    lastname: 'Vågenes',
    position: 'Fagansvarlig data og IT',
    role_ids: ['holder', 'kurs'],
  },
]);

const instructor = (ref: string, firstname: string, lastname: string, position: string, description: string) => ({
  ref,
  firstname,
  lastname,
  position,
  description,
  email: `${ref}@kursholdere.example`,
  phone_prefix: '+47',
  show_on_web: true,
});

/** Two of them are admin users too. */
const instructors = lines('instructor', [
  {
    ...instructor('ingrid', 'Ingrid', 'Bjørkhaug', 'Ambulansearbeider', 'Har lært bort førstehjelp i femten år.'),
    phone: '55 00 90 01',
    company: 'Bjørkhaug Beredskap',
  },
  {
    ...instructor('jonas', 'Jonas', 'Nesse', 'Truck- og kraninstruktør', 'Rolig i stemmen, også under hengende last.'),
    phone: '55 00 90 02',
  },
  {
    ...instructor('agnieszka', 'Agnieszka', 'Kowalczyk', 'Instruktor', 'Uczy po polsku, norsku i angielsku.'),
    phone: '55 00 90 03',
  },
  {
    ...instructor('bente', 'Bente', 'Solli', 'Advokat', 'Har vært hovedverneombud og vet hvor skoen trykker.'),
    phone: '55 00 90 04',
    company: 'Solli & Vik',
  },
  {
    ...instructor('rune', 'Rune', 'Aasheim', 'Prosjektleder', 'Har ledet byggingen av to bruer og ett barnehagebygg.'),
    phone: '55 00 90 05',
  },
  {
    ...instructor('emil.vagenes', 'Emil', 'Vågenes', 'Fagansvarlig data og IT', 'Forklarer til alle er med.'),
    company: 'Fjordkurs Bergen',
    idUser: 'emil',
  },
  {
    ...instructor('layla', 'Layla', 'Karimi', 'Dataanalytiker', 'Glad i rene tall og gode spørsmål.'),
    phone: '55 00 90 07',
  },
  {
    ...instructor('thomas', 'Thomas', 'Whitfield', 'Communication coach', 'Teaches from Bergen and New York.'),
    phone_prefix: '+1',
    phone: '555 0100',
  },
  {
    ...instructor('carmen', 'Carmen', 'Ortega Vik', 'Språklærer', 'Fra Granada til Bergen, med regnjakke.'),
    phone: '55 00 90 09',
  },
  {
    ...instructor('kari', 'Kari', 'Sjursen', 'Norsklærer', 'Tålmodig, nysgjerrig og flink til å lytte.'),
    phone: '55 00 90 10',
  },
  {
    ...instructor('astrid', 'Astrid', 'Fosse', 'Fotograf', 'Står opp før sola for et godt bilde.'),
    phone: '55 00 90 11',
    company: 'Fosse Foto',
  },
  {
    ...instructor('henrik', 'Henrik', 'Mowinckel', 'Baker og vinkelner', 'Deler gjerne surdeigen sin.'),
    phone: '55 00 90 12',
  },
  {
    ...instructor('solveig.haugland', 'Solveig', 'Haugland', 'Daglig leder', 'Holder Kursholderskolen selv.'),
    company: 'Fjordkurs Bergen',
    show_on_web: false,
    idUser: 'solveig',
  },
  {
    ...instructor('sunniva', 'Sunniva', 'Rosenlund', 'Skipper', 'Har krysset Nordsjøen fjorten ganger.'),
    phone: '55 00 90 14',
  },
]);

const retired = {
  ...instructor('torbjorn', 'Torbjørn', 'Eide', 'Skipper', 'Gikk av med pensjon og seiler nå bare for moro.'),
  show_on_web: false,
};

/** Admin users and instructors, one of them archived. */
export const staffLines = ({ today }: Calendar): Line[] => [
  ...roles,
  ...adminUsers,
  ...instructors,
  ...lines('instructor', [{ ...retired, archived_at: plusDays(today, -75) }]),
];
