import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { loadDemo, readDemo } from '../../../src/plugins/transfer/demo/load.ts';
import { listPartners } from '../../../src/domains/school/schools/partner-service.ts';
import { listProviders } from '../../../src/domains/school/schools/service.ts';
import { differences } from '../../support/compare-responses.ts';
import { exportToLines, importObjects, listUrls } from '../../support/all-responses.ts';
import { sessionCookie, visitor } from '../../support/pages.ts';
import {
  asAdmin,
  openTestDatabase,
  openTestApp,
  ownDatabase,
  send,
  settings,
  type Provider,
  type TestApp,
} from '../../support/test-app.ts';

const name = `booking_demo_${process.pid}`;
const key = 'demo-key-of-this-test-0123456789';
const tutorial = readFileSync('docs/tutorial/getting-started.md', 'utf8');
let testApp: TestApp;
let loaded: string | null;
let courses: Course[];
let today: string;
let dates: Item[];
let orders: Item[];
let participants: Item[];
let campaigns: Item[];

type Item = Record<string, any>;
type Course = {
  id: number;
  title: string;
  type: string;
  teaching_language: { id: string };
  descriptions: { lead: string; description: string };
  description_languages: string[];
  price: { value: number; currency: string };
  categories: { id: number; titleParent: string }[];
  tags: { id: number }[];
  provider?: { id: number; title: string };
};

beforeAll(async () => {
  await asAdmin(`create database ${name} template ${inject('template')} strategy file_copy`);
  testApp = await openTestApp(openTestDatabase(name));
  today = await dayOf(testApp.database);
  loaded = await loadDemo(testApp.database, settings, () => key, today);
  courses = await get('/v2/courses?limit=250');
  const embedded = 'course.customer,location,place,gatherings,instructors,subinstances,bundle';
  dates = (await get<{ items: Item[] }>(`/v2/coursedates?limit=250&include_deleted=1&include=${embedded}`)).items;
  orders = await readAllPages('/v2/orders?exported=1&include=campaign,lines.database_relations.participants');
  participants = await readAllPages('/v2/participants?include=attendance');
  campaigns = await get('/v2/campaigns');
});
afterAll(async () => {
  await testApp.close();
  await asAdmin(`drop database if exists ${name} with (force)`);
});

const get = async <T = Course[]>(url: string) =>
  (await send(testApp.app, { url, headers: { 'x-api-key': key } })).json<T>();

async function readAllPages(url: string, since = 0): Promise<Item[]> {
  const page = await get<Item[]>(`${url}&limit=250&since_id=${since}`);
  return page.length < 250 ? page : [...page, ...(await readAllPages(url, page.at(-1)!['id']))];
}

const plusDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const readSchool = (day: string) => readDemo('fjordkurs-bergen', day);
const dayOf = async ({ pool }: TestApp['database']) =>
  (await pool.query<{ day: string }>('select current_date::text as day')).rows[0]!.day;
const queryRows = async <T extends Item>(query: string) => (await testApp.database.pool.query<T>(query)).rows;

test('the requested key gives access to the demo school and its 40 courses', async () => {
  expect(loaded).toBe(key);
  expect(await get<object>('/v2/schools')).toMatchObject({ school: { title: 'Fjordkurs Bergen' } });
  expect(courses.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  expect(new Set(courses.map(({ title }) => title.toLowerCase())).size).toBe(40);
});

test('there are two approved partners, a pending one and a sub-school', async () => {
  const schools = await listProviders(testApp.database);
  const demo = schools[0]!.provider_id;
  expect(schools.map(({ parent_id }) => parent_id)).toEqual([null, null, null, null, demo]);
  const connections = await listPartners(testApp.database);
  expect(connections.map(({ provider_id }) => provider_id)).toEqual([demo, demo, demo]);
  expect(connections.map(({ status }) => status)).toEqual(['approved', 'approved', 'requested']);
});

test("only partners' public courses are listed with include_partners", async () => {
  const all = await get('/v2/courses?limit=250&include_partners=1');
  const theirs = all.filter(({ provider }) => provider?.title !== 'Fjordkurs Bergen');
  expect(all).toHaveLength(40 + theirs.length);
  expect([...new Set(theirs.map(({ provider }) => provider?.title))]).toEqual([
    'Hansa Matakademi',
    'Løvetann IT-akademi',
  ]);
  expect(new Set(theirs.map(({ type }) => type))).toEqual(new Set(['public']));
});

test('every course has texts, the long one as HTML', () => {
  for (const { title, descriptions } of courses) {
    expect(descriptions.description, title).toMatch(/^<p>[^]*<\/(p|ul)>$/);
    expect(descriptions.lead.length, title).toBeGreaterThan(50);
    expect(descriptions.lead, title).not.toContain('<');
  }
});

test('courses are taught in Norwegian, in English and in other languages', () => {
  const taught = (language: string) => courses.filter(({ teaching_language }) => teaching_language.id === language);
  expect(taught('no').length).toBeGreaterThanOrEqual(20);
  expect(taught('en').length).toBeGreaterThanOrEqual(5);
  expect(taught('no').length + taught('en').length).toBeLessThan(40);
});

test('description_language changes only the texts of translated courses', async () => {
  expect(courses.filter(({ description_languages }) => description_languages.length > 0).length).toBeGreaterThanOrEqual(
    20,
  );
  const english = await get('/v2/courses?limit=250&description_language=en');
  const changed = english.filter(({ descriptions }, n) => descriptions.lead !== courses[n]!.descriptions.lead);
  const translated = courses.filter(({ description_languages }) => description_languages.includes('en'));
  expect(translated.length).toBeGreaterThanOrEqual(10);
  expect(changed.map(({ id }) => id)).toEqual(translated.map(({ id }) => id));
});

test('every course is in a subcategory and has tags', async () => {
  const unsorted = courses.filter(({ categories }) => categories.length === 0);
  expect(unsorted).toEqual([]);
  expect(courses.flatMap(({ categories }) => categories).filter(({ titleParent }) => titleParent === '')).toEqual([]);
  expect(courses.filter(({ tags }) => tags.length === 0)).toEqual([]);
  expect((await get<unknown[]>('/v2/course-tags')).length).toBeGreaterThanOrEqual(10);
});

test('prices vary, some courses are free, and the main product has the course price', async () => {
  const priced = await get<(Course & { products: object[] })[]>('/v2/courses?limit=250&include[]=products');
  expect(new Set(priced.map(({ price }) => price.value)).size).toBeGreaterThan(20);
  expect(priced.filter(({ price }) => price.value === 0).length).toBeGreaterThan(0);
  expect(new Set(priced.map(({ price }) => price.currency))).toEqual(new Set(['NOK', 'EUR']));
  for (const { title, price, products } of priced) {
    expect(products, title).toMatchObject([{ price: price.value, currency: price.currency, is_main_product: true }]);
  }
});

test('there are 300 participants, most of 200 people, 120 orders and 30 customers', async () => {
  expect(participants).toHaveLength(300);
  expect(orders).toHaveLength(120);
  expect(new Set(participants.map(({ user }) => user.id)).size).toBeGreaterThan(150);
  const [counts] = await queryRows(`select (select count(*) from customers) as customers,
    (select count(*) from customers where type = 2) as private, (select count(*) from course_users) as users,
    (select count(distinct customer_id) from course_users) as employers`);
  expect(counts).toEqual({ customers: 30, private: 10, users: 200, employers: 30 });
});

const isOpen = ({ status_id, deleted_at }: Item) => status_id !== 3 && deleted_at === null;
const coming = () => dates.filter((date) => date['start_at'] > today && isOpen(date));
const past = () => dates.filter((date) => date['end_at'] < today && isOpen(date));

test('there are past and coming dates in each of at least six months', async () => {
  const months = (found: Item[]) => new Set(found.map(({ start_at }) => start_at.slice(0, 7)));
  expect(past().length).toBeGreaterThanOrEqual(30);
  expect(coming().length).toBeGreaterThanOrEqual(30);
  expect(months(past()).size).toBeGreaterThanOrEqual(6);
  expect(months(coming()).size).toBeGreaterThanOrEqual(6);
  expect(dates.filter(({ start_at, end_at }) => start_at < today && end_at > today).length).toBeGreaterThanOrEqual(5);
  expect((await get<Item[]>('/v2/nextcoursedates')).length).toBeGreaterThanOrEqual(30);
});

const offsetOf = (moment: string) =>
  new Date(moment).toLocaleTimeString('en-GB', { timeZone: 'Europe/Oslo', hour: '2-digit' });

test('dates are canceled, postponed, invisible, deleted, in another time zone and on a day of clock change', () => {
  const some = (condition: (date: Item) => boolean) => expect(dates.filter(condition).length).toBeGreaterThan(0);
  for (const status of [1, 2, 3, 4]) some(({ status_id }) => status_id === status);
  some(({ is_visible }) => is_visible === false);
  some(({ deleted_at }) => deleted_at !== null);
  some(({ visible_when_passed_deadline }) => visible_when_passed_deadline === false);
  some(({ external_booking_url }) => external_booking_url !== null);
  some(({ custom_properties }) => custom_properties !== null);
  some(({ title }) => title === 'TypeScript live from New York');
  expect(dates.filter(({ timezone }) => timezone !== null).map(({ timezone }) => timezone)).toEqual([
    'America/New_York',
  ]);
  const changes = dates.filter(({ title }) => title.startsWith('Nattfoto'));
  const [{ start_at: day, title }] = changes as [Item];
  const offsets = [day, plusDays(day, 1)].map((midnight) => offsetOf(`${midnight}T00:00Z`));
  expect([changes.length, offsets[0] === offsets[1], day > today]).toEqual([1, false, true]);
  expect(title.includes('ble borte')).toBe(offsets[0] === '01');
});

test('some dates are full and some have waiting lists', () => {
  const states = coming().map(({ seats_status }) => seats_status as string);
  expect(states.filter((state) => state === 'fully_booked').length).toBeGreaterThanOrEqual(2);
  expect(states.filter((state) => state === 'waiting_list').length).toBeGreaterThanOrEqual(3);
  expect(states.filter((state) => state === 'open').length).toBeGreaterThanOrEqual(20);
  expect(coming().filter(({ seats }) => seats.booking_status.num_waiting > 0).length).toBeGreaterThanOrEqual(4);
});

/** Number of participants of a date with the status. */
const counted = ({ coursedate_id }: Item, ...statuses: number[]) =>
  participants.filter(({ coursedate, status }) => coursedate.id === coursedate_id && statuses.includes(status.id))
    .length;

test('nobody waits while a seat is free, and only full dates are overbooked', () => {
  for (const date of dates) {
    const { allocated_capacity: capacity, booking_status: booked } = date['seats'];
    expect([booked.num, booked.num_waiting], date['title']).toEqual([counted(date, 1, 2, 7), counted(date, 3)]);
    const limit = capacity.num === 0 ? Infinity : Number(capacity.num) + Number(capacity.num_overbooked);
    expect(booked.num, date['title']).toBeLessThanOrEqual(limit);
    expect(booked.num_waiting, date['title']).toBeLessThanOrEqual(capacity.num_waiting);
    if (booked.num_waiting > 0) expect(booked.num, date['title']).toBe(limit);
    if (counted(date, 2) > 0) expect(counted(date, 1, 7), date['title']).toBe(capacity.num);
  }
  expect(new Set(participants.map(({ status }) => status.id))).toEqual(new Set([1, 2, 3, 4, 7, 8]));
});

test('waiting participants were booked after seated ones', () => {
  const waiting = participants.filter(({ status }) => status.id === 3);
  for (const { coursedate, status_updated_at: since } of waiting) {
    const seated = participants.filter((one) => one['coursedate'].id === coursedate.id && one['status'].id === 1);
    expect(seated.filter((one) => one['status_updated_at'] > since)).toEqual([]);
  }
});

test('children with trigger values have their own seats', () => {
  const children = dates.filter(({ parent_id }) => parent_id !== null);
  expect(children.map(({ trigger_value }) => trigger_value)).toEqual(['formiddag', 'ettermiddag']);
  expect(children.every((child) => counted(child, 1) > 0)).toBe(true);
  const parents = dates.filter(({ subinstances }) => subinstances.length > 0);
  expect(parents.map(({ subinstances }) => subinstances.map(({ trigger_value }: Item) => trigger_value))).toEqual([
    ['formiddag', 'ettermiddag'],
  ]);
});

test('a bundle has three future dates, and virtual dates have a meeting URL', () => {
  const bundled = dates.filter(({ bundle }) => bundle !== null);
  expect(bundled.map(({ bundle }) => bundle.items.length)).toEqual([3, 3, 3]);
  expect(bundled.every(({ start_at }) => start_at > today)).toBe(true);
  const virtual = dates.filter(({ is_virtual }) => is_virtual === true);
  expect(virtual.length).toBeGreaterThanOrEqual(10);
  for (const { event_url, location, gatherings } of virtual) {
    expect(event_url).toMatch(/^https:\/\/mote\.fjordkurs\.example\/[a-z0-9-]+$/);
    expect(location.is_virtual).toBe(true);
    expect(gatherings.every((gathering: Item) => gathering['event_url'] === event_url)).toBe(true);
  }
});

test('every date has gatherings from its first to its last day, with instructors', () => {
  for (const { title, start_at, end_at, gatherings, instructors } of dates) {
    expect(gatherings[0].gathering_at.slice(0, 10), title).toBe(start_at);
    expect(gatherings.at(-1).gathering_end_at.slice(0, 10), title).toBe(end_at);
    expect(instructors.length, title).toBeGreaterThan(0);
    for (const gathering of gatherings) expect(gathering.instructors.length, title).toBeGreaterThan(0);
  }
});

test('locations have capacities, instructors and places; one is archived, one virtual', async () => {
  const locations = await get<Item[]>('/v2/locations');
  const having = (condition: (location: Item) => boolean) => locations.filter(condition).length;
  expect(having(({ is_archived }) => is_archived)).toBe(1);
  expect(having(({ is_virtual }) => is_virtual)).toBe(1);
  expect(having(({ is_default }) => is_default)).toBe(1);
  expect(having(({ capacity_max }) => capacity_max > 0)).toBeGreaterThanOrEqual(5);
  expect(having(({ instructor }) => instructor !== null)).toBeGreaterThanOrEqual(3);
  expect(having(({ place }) => place?.parent?.title === 'Vestland')).toBeGreaterThanOrEqual(5);
  const places = new Set(dates.map(({ place }) => place.title));
  expect(places).toEqual(new Set(['Bergen', 'Ulvik', undefined]));
});

test('instructors and admin users are connected, one instructor is archived, and roles differ', async () => {
  const instructors = await get<Item[]>('/v2/instructors');
  expect(instructors.filter(({ archived_at }) => archived_at !== null)).toHaveLength(1);
  expect(instructors.filter(({ idUser }) => idUser > 0)).toHaveLength(2);
  const roles = await get<Item[]>('/v2/admin-roles');
  expect(roles.map(({ title }) => title as string)).toEqual([
    ...['Administrator', 'Kursadministrator', 'Bedriftsselger', 'Økonomi', 'Kursholder'],
  ]);
  const input = (await get<Item[]>('/v2/admin-users')).flatMap(({ role_ids }) => role_ids as number[]);
  expect(new Set(input)).toEqual(new Set(roles.map(({ id }) => id as number)));
});

test('past gatherings have attendance, and participants who passed have a certificate', () => {
  const registered = participants.flatMap((one) => one['attendance'] as Item[]);
  expect(registered.filter(({ attended }) => attended === true).length).toBeGreaterThan(200);
  expect(registered.filter(({ attended }) => attended === false).length).toBeGreaterThan(20);
  const heldOn = new Map(
    dates.flatMap(({ gatherings }) => gatherings.map((one: Item) => [one['id'], one['gathering_at'].slice(0, 10)])),
  );
  expect(registered.filter(({ gathering_id }) => !(heldOn.get(gathering_id)! < today))).toEqual([]);

  const certified = participants.filter(({ certificate_issued_at }) => certificate_issued_at !== null);
  expect(certified.length).toBeGreaterThan(20);
  for (const { passed, completed, coursedate } of certified) {
    expect([passed, completed, coursedate.end_at < today]).toEqual([true, true, true]);
  }
  const early = participants.filter(({ coursedate, passed }) => passed && coursedate.end_at >= today);
  expect(early).toEqual([]);
  expect(participants.filter(({ no_show }) => no_show).length).toBeGreaterThan(0);
  expect(participants.filter(({ passed }) => passed).length).toBeGreaterThan(certified.length);
});

test('nobody is on a date twice, and orders name the person who booked', () => {
  const seats = participants.map(({ coursedate, user }) => `${coursedate.id}/${user.id}`);
  expect(new Set(seats).size).toBe(seats.length);
  expect(participants.filter(({ booker_name, booker_email }) => !booker_name || !booker_email)).toEqual([]);
  expect(new Set(participants.map(({ entry_source }) => entry_source))).toEqual(new Set(['User', 'School']));
  expect(new Set(participants.map(({ idPaid }) => idPaid))).toEqual(new Set([1, 3]));
});

test('campaigns exist in every state, with and without code, by percentage and amount', () => {
  const having = (condition: (campaign: Item) => boolean) => campaigns.filter(condition);
  for (const state of ['running', 'waiting', 'expired']) {
    const found = having((campaign) => campaign[state] === true && campaign['type'] === 'Campaign');
    expect(new Set(found.map(({ uses_code }) => uses_code)), state).toEqual(new Set([true, false]));
    expect(new Set(found.map(({ discount_type }) => discount_type)), state).toEqual(new Set(['Percent', 'Value']));
  }
  expect(having(({ is_archived, running }) => is_archived && !running)).toHaveLength(1);
  expect(having(({ active, running }) => !active && !running)).toHaveLength(1);
  expect(having(({ tags }) => tags.length > 0).length).toBeGreaterThan(0);
  const [agreement, ...more] = having(({ type }) => type === 'Agreement');
  expect([agreement!['running'], agreement!['customers'].length, more]).toEqual([true, 1, []]);
});

test('order discounts match the campaign and totals match the lines', () => {
  const hundredths = (amount: number) => Math.round(amount * 100);
  for (const { title, lines, campaign, calculated_totals: totals } of orders) {
    expect(lines, title).toHaveLength(1);
    const [line] = lines as [Item];
    const { quantity, price_at_order_per_item_vat_excluded: price, discount_calculated_at_order: discount } = line;
    const { discount_percent_at_order: percent, discount_amount_at_order: value } = line;
    const [full, off] = [hundredths(quantity * price), hundredths(discount)];
    expect(line['database_relations'], title).toHaveLength(quantity);
    expect([percent, value], title).toEqual(
      campaign === null
        ? [0, 0]
        : campaign.discount_type === 'Percent'
          ? [campaign.discount_value, 0]
          : [0, campaign.discount_value],
    );
    expect(off, title).toBe(Math.round((full * percent) / 100) + hundredths(quantity * Math.min(value, price)));
    const vat = Math.round(((full - off) * line['product'].vat_percentage) / 100);
    expect(
      Object.values(totals).map((total) => hundredths(total as number)),
      title,
    ).toEqual([full, full - off, off, vat, full - off + vat]);
  }
  const used = new Set(orders.map(({ idCampaign }) => idCampaign as number | null));
  expect(used.size).toBeGreaterThanOrEqual(6);
  expect(orders.filter(({ calculated_totals }) => calculated_totals.total_amount_of_vat > 0).length).toBeGreaterThan(3);
});

test('orders only use active campaigns valid for their course and customer', () => {
  const agreement = campaigns.find(({ type }) => type === 'Agreement')!;
  for (const { title, idCampaign, customer, lines } of orders) {
    const campaign = campaigns.find(({ id }) => id === idCampaign);
    const isAgreed = customer?.id === agreement['customers'][0];
    expect(isAgreed, title).toBe(campaign === agreement);
    if (campaign === undefined || isAgreed) continue;
    expect(campaign['courses'], title).toContain(lines[0].database_relations[0].course_id);
    expect([campaign['is_archived'], campaign['active'], campaign['waiting']], title).toEqual([false, true, false]);
  }
});

test('some orders are exported and keep their prices', async () => {
  const waiting = await readAllPages('/v2/orders?exported=0');
  expect(waiting.length).toBeGreaterThan(30);
  expect(orders.length - waiting.length).toBeGreaterThan(50);
  expect(waiting.filter(({ exported_at }) => exported_at !== null)).toEqual([]);
  expect(orders.filter(({ exported_at }) => exported_at !== null && exported_at.slice(0, 10) >= today)).toEqual([]);
  const window = await readAllPages(`/v2/orders?exported_at_min=${plusDays(today, -60)}&exported_at_max=${today}`);
  expect(window.length).toBeGreaterThan(5);
  expect(window.length).toBeLessThan(orders.length - waiting.length);
  expect(new Set(orders.map(({ is_paid }) => is_paid))).toEqual(new Set([true, false]));
  const [{ exported, invoiced }] = (await queryRows(`select count(price_at_export)::int as exported,
    count(price_at_invoice)::int as invoiced from order_lines`)) as [Item];
  expect(exported).toBe(orders.length - waiting.length);
  expect(invoiced).toBeGreaterThan(exported);
});

test('there are unused, partly used, used up, expired and archived vouchers', async () => {
  const vouchers = await queryRows(`select balance = amount as whole, balance = 0 as spent,
    coalesce(expires_at < now(), false) as expired, archived_at is not null as archived from vouchers order by id`);
  const fresh = { whole: true, spent: false, expired: false, archived: false };
  expect(vouchers).toEqual([
    fresh,
    { ...fresh, whole: false },
    { ...fresh, whole: false, spent: true },
    { ...fresh, expired: true },
    { ...fresh, archived: true },
  ]);
});

test('people and texts are fictional: every address ends in .example', () => {
  const texts = JSON.stringify(readSchool(today).filter(({ kind }) => kind !== 'course'));
  const hosts = [...texts.matchAll(/@([\w.-]+)|https?:\/\/([\w.-]+)/g)].map(([, mail, site]) => mail ?? site!);
  expect(hosts.length).toBeGreaterThan(250);
  // The username may have a suffix after the address.
  expect(hosts.filter((host) => !/\.example(_|$)/.test(host))).toEqual([]);
});

test('for any day, all but the running dates are past or future', () => {
  for (let day = '2027-12-20'; day < '2029-01-10'; day = plusDays(day, 5)) {
    const lines = readSchool(day) as Item[];
    const runs = lines.filter(({ kind }) => kind === 'coursedate');
    const registered = lines.flatMap(({ attendance }) => (attendance ?? []) as Item[]);
    expect(registered.filter(({ registered_at }) => registered_at > day)).toEqual([]);
    expect(JSON.stringify(lines)).not.toMatch(/\{[^"}]/);
    expect(runs.filter(({ end_at }) => end_at < day)).toHaveLength(35);
    expect(runs.filter(({ start_at, end_at }) => start_at < day && day < end_at)).toHaveLength(5);
    expect(runs.filter(({ start_at }) => start_at > day)).toHaveLength(41);
    expect(runs.length).toBe(81);
  }
});

test.each(['2026-03-29', '2024-02-29', '2025-10-26', '2025-12-31'])('it can be loaded on %s', async (day) => {
  const database = await empty();
  expect(await loadDemo(database, settings, () => key, day)).toBe(key);
  const counts = await rowCounts(database);
  expect({ ...counts, attendances: 0 }).toEqual({ ...(await rowCounts(testApp.database)), attendances: 0 });
});

test('a rejected line aborts the load with its number and reason', async () => {
  const database = await empty();
  await database.pool.query(`create function fail() returns trigger language plpgsql as
    $$ begin if new.code like '%0518' then raise exception 'no' using errcode = 'check_violation', constraint = 'made_up'; end if; return new; end $$;
    create trigger refusing before insert on vouchers for each row execute function fail()`);
  const loading = loadDemo(database, settings, () => key);
  await expect(loading).rejects.toThrow("The demo's voucher gammel: Refused by the rule made_up");
  expect(nothing(await rowCounts(database))).toBe(true);
});

/** Row counts of the tables that the demo data fills. */
async function rowCounts({ pool }: TestApp['database']) {
  const tables = ['providers', 'provider_state', 'api_keys', 'partner_connections', 'categories', 'customers'].concat([
    'courses',
    'products',
    'tags',
    'labels',
    'course_tags',
    'course_labels',
    'course_categories',
    'course_translations',
    ...['roles', 'admin_users', 'admin_memberships', 'admin_membership_roles', 'instructors', 'locations'],
    ...['course_users', 'bundles', 'course_dates', 'course_date_instructors', 'gatherings', 'gathering_instructors'],
    ...['campaigns', 'campaign_courses', 'campaign_customers', 'campaign_tags', 'vouchers'],
    ...['orders', 'order_lines', 'bookings', 'participants', 'order_line_participants', 'attendances'],
  ]);
  const counts = tables.map((table) => `select '${table}' as name, count(*)::int as count from ${table}`);
  const { rows } = await pool.query<{ name: string; count: number }>(counts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

test('refs of a later import do not collide with the demo data', async () => {
  expect(await queryRows('select * from import_refs')).toEqual([]);
});

test('a second load returns null, creates no key and changes nothing', async () => {
  const [before, versions] = [await rowCounts(testApp.database), await clocks()];
  const again = await loadDemo(testApp.database, settings, () => {
    throw new Error('no key is needed');
  });
  expect(again).toBeNull();
  expect([await rowCounts(testApp.database), await clocks()]).toEqual([before, versions]);
  expect(Object.values(before).filter((count) => count === 0)).toEqual([]);
});

const clocks = async () =>
  (await testApp.database.pool.query('select * from provider_state order by 1')).rows as unknown[];

async function empty() {
  const database = openTestDatabase(await ownDatabase());
  onTestFinished(() => database.close());
  return database;
}

const nothing = (counts: Record<string, number>) => Object.values(counts).every((count) => count === 0);

test('nothing is loaded when the key file cannot be written', async () => {
  const database = await empty();
  const failing = loadDemo(database, settings, () => {
    throw new Error('the disk is full');
  });
  await expect(failing).rejects.toThrow('the disk is full');
  expect(nothing(await rowCounts(database))).toBe(true);
  expect(await loadDemo(database, settings, () => key)).toBe(key);
});

test('a failure near the end rolls everything back', async () => {
  const database = await empty();
  await database.pool.query(`create function fail() returns trigger language plpgsql as
    $$ begin if new.status = 'requested' then raise exception 'late'; end if; return new; end $$;
    create trigger late before insert on partner_connections for each row execute function fail()`);
  await expect(loadDemo(database, settings, () => key)).rejects.toMatchObject({ cause: { message: 'late' } });
  expect(nothing(await rowCounts(database))).toBe(true);
});

test('only one of several concurrent loads runs', async () => {
  const database = await empty();
  const keys = await Promise.all(['a', 'b', 'c'].map((one) => loadDemo(database, settings, () => one.repeat(40))));
  expect(keys.filter((one) => one !== null)).toHaveLength(1);
  expect((await listProviders(database)).length).toBe(5);
  // In the database's time zone.
  const starts = await database.pool.query<{ coming: number }>(
    `select count(*)::int as coming from course_dates where start_at > current_date and start_at < current_date + 30`,
  );
  expect(starts.rows[0]!.coming).toBeGreaterThan(10);
});

test('the demo school survives an export and an import', async () => {
  const [{ provider_id: id } = { provider_id: 0 }] = await listProviders(testApp.database);
  const demo = { get: (url: string) => send(testApp.app, { url, headers: { 'x-api-key': key } }) };
  const copy = await testApp.createProvider();
  const lines = await exportToLines(testApp, { id });
  expect(await importObjects(copy, lines, {}, { name })).toMatchObject({ written: lines.length, reasons: [] });
  // The slug is not moved: each catalog on a server has one of its own.
  const isSlug = /^\.\/v2\/catalog-settings\.(slug|url): /;
  const found = differences(await listed(demo), await listed(copy));
  expect(found.filter((difference) => !isSlug.test(difference))).toEqual([]);
});

/** Responses of every list; with partners the order is by ids of several schools, which differ. */
async function listed(me: Pick<Provider, 'get'>) {
  const responses: Record<string, unknown> = {};
  for (const url of listUrls.filter((one) => !one.includes('include_partners')))
    responses[url] = (await me.get(url)).json<unknown>();
  return responses;
}

test('partners have future dates, and one date has no location', async () => {
  const coming = await get<Item[]>('/v2/nextcoursedates?include_partners=1');
  const ofPartner = (title: string) => coming.filter((date) => date['provider'].title === title);
  expect(ofPartner('Hansa Matakademi').length).toBeGreaterThan(2);
  expect(ofPartner('Løvetann IT-akademi').length).toBeGreaterThan(2);
  const own = ofPartner('Fjordkurs Bergen').filter((date) => date['location_id'] === null);
  expect(own).toHaveLength(1);
  expect(own[0]).toMatchObject({ location: null, place_id: null });
  expect(own[0]!['gatherings'].map((one: Item) => one['idLocation'])).toEqual([null, null]);
});

test('the course user of the tutorial may cancel a coming course', async () => {
  const [, username, password] = /course user `(\S+)` has\s+the\s+password `([^`]+)`/.exec(tutorial)!;
  const payload = { username, password, create_login_url: true };
  const headers = { 'x-api-key': key };
  const signOn = await send(testApp.app, { method: 'POST', url: '/v2/check-user-credentials', headers, payload });
  const { pathname } = new URL(signOn.json<{ login_url: string }>().login_url);
  const browser = visitor(testApp.app, { cookie: sessionCookie(await visitor(testApp.app).get(pathname)) });
  const courses = [...(await browser.get('/my')).text.matchAll(/href="(\/my\/courses\/\d+)"/g)].map(
    ([, path]) => path!,
  );
  const pages = await Promise.all(courses.map(async (path) => (await browser.get(path)).text));
  expect(pages.some((text) => text.includes('/cancel"'))).toBe(true);
});

test('the course user and voucher codes of the tutorial exist', async () => {
  const [, username, password] = /course user `(\S+)` has\s+the\s+password `([^`]+)`/.exec(tutorial)!;
  const headers = { 'x-api-key': key };
  const payload = { username, password, create_login_url: true };
  const response = await send(testApp.app, { method: 'POST', url: '/v2/check-user-credentials', headers, payload });
  expect(response.json()).toMatchObject({ valid: true, email: username, login_url: expect.any(String) as string });
  const { user_id } = response.json<{ user_id: number }>();
  const theirs = participants.filter(({ user }) => user.id === user_id);
  const isComing = (one: Item) => one['coursedate'].end_at >= today;
  expect([theirs.some(isComing), theirs.every(isComing)]).toEqual([true, false]);

  const codes = [...tutorial.matchAll(/`(GAVE-[A-Z0-9-]+)`/g)].map(([, code]) => code!);
  const { rows } = await testApp.database.pool.query<{ code: string }>('select distinct code from vouchers');
  expect([...codes].sort()).toEqual(rows.map(({ code }) => code).sort());
  const balances = codes.map(async (code) => (await get<Item>(`/v2/vouchers/validate/${code}`))['voucher'].balance);
  expect(await Promise.all(balances)).toEqual(['2000.00', '1410.00', '0.00', '1000.00', '500.00']);
});
