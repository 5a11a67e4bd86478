import { lines, type Line } from './lines.ts';

/** A company with one address for post and visits; invoices go by e-mail by default. */
const company = (ref: string, title: string, orgnr: string, address: string, place: string, sellerId: string) => ({
  ref,
  title,
  orgnr,
  email: `post@${ref}.example`,
  web_address: `https://${ref}.example`,
  invoice_email: `faktura@${ref}.example`,
  invoice_method: 'email',
  invoice_due_days: 30,
  post_address_1: address,
  office_address_1: address,
  post_zipcode: place.slice(0, 4),
  post_city: place.slice(5),
  office_zipcode: place.slice(0, 4),
  office_city: place.slice(5),
  seller_id: sellerId,
});

/** Companies whose employees take courses. */
export const companies = lines('customer', [
  {
    ...company('vestbygg', 'Vestbygg Entreprenør AS', '312480670', 'Fyllingsveien 308', '5147 Fyllingsdalen', 'hanne'),
    email: 'hms@vestbygg.example',
    phone: '+47 55 00 41 10',
    customer_reference_id: 'K-1001',
    invoice_customer_reference: 'RA-2025-017',
    always_use_customer_reference: true,
    turnover: '420 mill. kr',
    note: 'Rammeavtale: rabatten gis av seg selv.',
    custom_properties: { bransje: 'Bygg og anlegg', avtale: 'RA-2025-017' },
  },
  {
    ...company('havbris', 'Havbris Rederi AS', '313905128', 'Postboks 918 Sentrum', '5808 Bergen', 'hanne'),
    email: 'personal@havbris.example',
    phone: '+47 55 00 62 75',
    customer_reference_id: 'K-1002',
    invoice_due_days: 45,
    custom_properties: { bransje: 'Shipping' },
  },
  {
    ...company('solheimomsorg', 'Solheim Omsorgssenter SA', '314759389', 'Solheimsgaten 240', '5054 Bergen', 'farida'),
    email: 'kurs@solheimomsorg.example',
    phone: '+47 55 00 23 40',
  },
  {
    ...company('nordfjordfisk', 'Nordfjord Fiskeforedling AS', '315617405', 'Kaivegen 44', '6700 Måløy', 'hanne'),
    email: 'faktura@nordfjordfisk.example',
    phone: '+47 57 00 18 30',
  },
  {
    ...company('vestbygg-eiendom', 'Vestbygg Eiendom AS', '310104175', 'Fyllingsveien 308', '5147 Bergen', 'hanne'),
    idParentCustomer: 'vestbygg',
    department: 'Drift og vedlikehold',
  },
  company('syvfjell', 'Syvfjell Regnskap AS', '313583686', 'Vaskerelven 190', '5014 Bergen', 'farida'),
  {
    ...company('kvernhuset', 'Kvernhuset Bakeri AS', '317063199', 'Møllendalsveien 205', '5009 Bergen', 'farida'),
    invoice_due_days: 14,
  },
  company('laksogsonner', 'Laks & Sønner Havbruk AS', '320542707', 'Sjøvegen 118', '5337 Rong', 'hanne'),
  company('byfjorden', 'Byfjorden Ferger AS', '327501720', 'Dokken 340', '5007 Bergen', 'hanne'),
  company('utsikten', 'Utsikten Arkitekter AS', '330981237', 'Fjellveien 406', '5019 Bergen', 'farida'),
  {
    ...company('regnbuen', 'Regnbuen Barnehager SA', '334460746', 'Paradisleitet 160', '5231 Paradis', 'farida'),
    customer_reference_id: 'K-1011',
    note: 'Ring helst etter klokka 16, da er det stille.',
  },
  company('blamann', 'Blåmann Elektro AS', '337940250', 'Minde allé 290', '5068 Bergen', 'hanne'),
  company('nordlia', 'Nordlia Sykehjem', '344899274', 'Åsaneveien 714', '5116 Ulset', 'farida'),
  company('datafloa', 'Datafloa AS', '348378783', 'Solheimsgaten 301', '5058 Bergen', 'farida'),
  company('nyborglager', 'Nyborg Lager og Logistikk AS', '355337804', 'Nyborgvegen 512', '5131 Nyborg', 'hanne'),
  {
    ...company('kattegatt', 'Kattegatt Logistik AB', '556000-0100', 'Hamngatan 404', '0000 Göteborg', 'hanne'),
    country: 'SE',
    post_zipcode: '411 04',
    office_zipcode: '411 04',
  },
  {
    ...company('strilevik', 'Strilevik kommune', '358817319', 'Rådhusvegen 101', '5914 Isdalstø', 'hanne'),
    department: 'Organisasjon og utvikling',
    invoice_method: 'electronic',
    invoice_customer_reference: 'Ressurs 4410',
  },
  company('solgry', 'Solgry videregående skole', '365776334', 'Skoleveien 222', '5155 Bønes', 'farida'),
  company('fjellbekk', 'Fjellbekk Bryggeri AS', '369255843', 'Kanalveien 333', '5068 Bergen', 'farida'),
  {
    ...company('tysnesreiser', 'Tysnesfjord Reiser AS', '376214869', 'Strandkaien 411', '5013 Bergen', 'hanne'),
    status: 2,
    note: 'Lagt ned. Fortsatt takk for mange hyggelige år.',
  },
]);

const person = (ref: string, title: string, address: string, zipcode: string) => ({
  ref,
  title,
  type: 2,
  email: `${ref}@epost.example`,
  post_address_1: address,
  post_zipcode: zipcode,
  post_city: 'Bergen',
  invoice_due_days: 14,
  invoice_method: 'email',
});

/** Private persons with an account. */
export const privateCustomers = lines('customer', [
  person('aud.myking', 'Aud Myking', 'Nordnesgaten 217', '5005'),
  person('bjarte.fjose', 'Bjarte Fjose', 'Ladegårdsgaten 309', '5033'),
  person('celine.tran', 'Celine Tran', 'Sandviksveien 441', '5036'),
  person('daniel.okoye', 'Daniel Okoye', 'Damsgårdsveien 507', '5160'),
  person('eldbjorg.rong', 'Eldbjørg Rong', 'Loddefjordveien 613', '5171'),
  person('frida.storm', 'Frida Storm', 'Starefossveien 238', '5019'),
  person('gunnar.hopland', 'Gunnar Hopland', 'Natlandsveien 725', '5093'),
  person('hassan.jama', 'Hassan Jama', 'Landåslien 342', '5097'),
  person('irmelin.skaar', 'Irmelin Skaar', 'Kalfarveien 451', '5018'),
  person('jorunn.bratland', 'Jorunn Bratland', 'Øyjordsveien 818', '5038'),
]);

export const customerLines: Line[] = [...companies, ...privateCustomers];
