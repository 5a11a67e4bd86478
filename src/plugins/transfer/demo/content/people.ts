import { toSlug } from '../../../../core/catalog-urls.ts';
import { companies, privateCustomers } from './customers.ts';
import type { Line } from './lines.ts';

const firstnames =
  'Anne Bjørn Camilla David Elin Fredrik Guro Hamza Ida Jakob Karoline Leon Maja Nikolai Oda Peder Ragnhild Sander Thea Ulrik ' +
  'Vilde Willy Ylva Åse Øystein Amina Birk Cecilie Dag Emma Filip Gry Håkon Ingeborg Jesper Katarzyna Lars Mina Noah Olga';
const lastnames =
  'Aadland Berge Cappelen Dahl Eikeland Furuseth Gjerde Halland Isdahl Johannessen Knudsen Langeland Monsen Natvik Olsvik ' +
  'Pedersen Raknes Sandvik Tveiten Urdal Veland Wiik Ystad Ås Øvrebø Ahmed Birkeland Christensen Drange Espeland Fosså ' +
  'Grønn Hauge Ibrahim Jordal Kleppe Lie Mehus Nguyen Opdal Pettersen Rasmussen Sivertsen Tysse Ulvatn Valle Wergeland Yttri Zahl';
const positions = [
  'Fagarbeider',
  'Avdelingsleder',
  'Konsulent',
  'Verneombud',
  'Prosjektmedarbeider',
  'Lærling',
  'Leder',
];
const departments = ['Drift', 'Administrasjon', 'Prosjekt'];
const streets = [
  'Nygårdsgaten',
  'Kong Oscars gate',
  'Hardangerveien',
  'Øvre Fyllingsvei',
  'Storetveitvegen',
  'Åsamyrane',
];
const zipcodes = ['5015', '5017', '5224', '5145', '5072', '5116'];

/** The nth name, unique for n below 1,960. */
function getName(n: number) {
  const [first, last] = [firstnames.split(' '), lastnames.split(' ')];
  const firstname = first[n % first.length]!;
  const lastname = last[(n * 3 + Math.floor(n / first.length)) % last.length]!;
  return { firstname, lastname, mailbox: `${toSlug(firstname)}.${toSlug(lastname)}` };
}

const getPhone = (n: number) => `+47 55 00 ${30 + Math.floor(n / 100)} ${String(n % 100).padStart(2, '0')}`;
const getBirthday = (n: number) =>
  `${1956 + ((n * 7) % 48)}-${twoDigits(1 + (n % 12))}-${twoDigits(1 + ((n * 5) % 28))}`;
const twoDigits = (number: number) => String(number).padStart(2, '0');

function getHome(n: number) {
  const [home_address_1, home_zipcode] = [`${streets[n % streets.length]!} ${210 + n}`, zipcodes[n % zipcodes.length]!];
  return { home_address_1, home_zipcode, home_city: 'Bergen' };
}

/** Employees per company. */
const staffSize = 7;

/** Credentials of a course user; docs/tutorial/getting-started.md contains them. */
const signOn = { ref: 'havbris/2', password: 'fjord og fjell' };

const employees: Line[] = companies.flatMap((company, place) =>
  Array.from({ length: staffSize }, (_, member) => {
    const n = place * staffSize + member;
    const { firstname, lastname, mailbox } = getName(n);
    return {
      kind: 'user',
      ref: `${company.ref}/${member + 1}`,
      firstname,
      lastname,
      email: `${mailbox}@${company.ref}.example`,
      phone: getPhone(n),
      customer_id: company.ref,
      company: company['title'],
      orgnr: company['orgnr'],
      position: positions[member],
      department: departments[n % departments.length],
      company_employee_number: String(1000 + n),
      work_address_1: company['post_address_1'],
      work_zipcode: company['post_zipcode'],
      work_city: company['post_city'],
      ...(signOn.ref === `${company.ref}/${member + 1}` ? { password: signOn.password } : {}),
      ...(member === 0 ? { date_of_birth: getBirthday(n) } : {}),
      ...(n % 9 === 4 ? { custom_properties: { allergi: n % 2 === 0 ? 'Nøtter' : 'Gluten' } } : {}),
    };
  }),
);

/** Private persons with an account. */
const customersThemselves: Line[] = privateCustomers.map((customer, place) => {
  const n = employees.length + place;
  const [firstname, lastname] = String(customer['title']).split(' ');
  return {
    ...{ kind: 'user', ref: customer.ref, firstname, lastname, email: customer['email'], phone: getPhone(n) },
    ...{ customer_id: customer.ref, date_of_birth: getBirthday(n) },
    home_address_1: customer['post_address_1'],
    home_zipcode: customer['post_zipcode'],
    home_city: customer['post_city'],
  };
});

/** Private persons without an account; the first two share an e-mail address. */
const guests: Line[] = Array.from({ length: 50 }, (_, place) => {
  const n = employees.length + privateCustomers.length + place;
  const { firstname, lastname, mailbox } = getName(n);
  const email = `${mailbox}@epost.example`;
  return {
    ...{ kind: 'user', ref: `guest/${place + 1}`, firstname, lastname, email, phone: getPhone(n) },
    ...{ date_of_birth: getBirthday(n), ...getHome(n) },
    ...(place % 8 === 3 ? { information_gathered_at: '2026-01-15 09:00', external_id: `crm-${7000 + place}` } : {}),
    ...(place === 1 ? { ...getHome(n - 1), ...sharing(getName(n - 1).mailbox, firstname, lastname) } : {}),
  };
});

/** A shared e-mail address gets a suffix in the username, as in bookings. */
function sharing(mailbox: string, firstname: string, lastname: string) {
  const email = `${mailbox}@epost.example`;
  return { email, username: `${email}_${firstname}_${lastname}`.toLowerCase() };
}

/** 200 course users. */
export const userLines: Line[] = [...employees, ...customersThemselves, ...guests];

export const getEmployees = (companyRef: string) => employees.filter((user) => user['customer_id'] === companyRef);
export const privatePersons = [...customersThemselves, ...guests];
