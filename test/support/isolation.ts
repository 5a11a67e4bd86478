import { readFileSync } from 'node:fs';
import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { vouchers } from '../../src/database/tables/campaigns.ts';
import { categories, courseCategories, labels, tags } from '../../src/database/tables/catalog.ts';
import { courseDates, gatherings } from '../../src/database/tables/coursedates.ts';
import { courses, courseTranslations, products } from '../../src/database/tables/courses.ts';
import { customers } from '../../src/database/tables/customers.ts';
import { payments, bookings, orders } from '../../src/database/tables/orders.ts';
import { courseInterests } from '../../src/database/tables/interests.ts';
import { outbox } from '../../src/database/tables/outbox.ts';
import { participants } from '../../src/database/tables/participants.ts';
import { adminMembershipRoles, adminMemberships, adminUsers, roles } from '../../src/database/tables/people.ts';
import { instructors, locations } from '../../src/database/tables/places.ts';
import { bookingSettings, catalogNames, catalogSettings, providers } from '../../src/database/tables/providers.ts';
import { courseUsers } from '../../src/database/tables/users.ts';
import { webhookDeliveries, webhooks } from '../../src/database/tables/webhooks.ts';
import { addBundle, addDate, addGathering, addInstructor, addLocation, assignInstructor } from './dates.ts';
import {
  createAttendance,
  createCampaign,
  createCustomer,
  createOrder,
  createPlace,
  createProduct,
  createUser,
  write,
} from './orders.ts';
import { createKey, revokeKey } from '../../src/domains/school/auth/key-service.ts';
import { approvePartner, requestPartner, revokePartner } from '../../src/domains/school/schools/partner-service.ts';
import { dereference, itemsPath } from './openapi.ts';
import { post } from './path-items.ts';
import { isServed } from './plugin-list.ts';
import { findWriteEndpoint } from './request-bodies.ts';
import { isFreeText } from './sample-values.ts';
import type { Provider, TestApp } from './test-app.ts';

/** Marker in every text of the owner; slugs contain it in lower case. */
export const marker = 'OWNED-7f3a';
/** Marker in texts that no partner may see: another type of course, a hidden date. */
export const unlistedMarker = `${marker}-unlisted`;
/** Marker in the school's internal numbers. */
export const secretNumber = 7_319_046;
/** Marker in password hashes, which no response contains. */
export const passwordHash = 'HASHED-7f3a';

export const containsText = (text: string, what = marker) => text.toLowerCase().includes(what.toLowerCase());

/** Codes instead of free text, validated by the interface or the database. */
const codes = /zone|country|currency|language|passwordHash/i;

type Fields<T extends { $inferInsert: object }> = Partial<T['$inferInsert']>;

/** A row with the marker in every text column and in its custom properties. */
function marked<T extends PgTable & { $inferInsert: object }>(table: T, text = marker): Fields<T> {
  const values = Object.entries(getTableColumns(table)).map(([name, column]) => {
    if (column.columnType === 'PgJsonb') return [name, { note: text }];
    if (name === 'passwordHash') return [name, passwordHash];
    const isFree = column.getSQLType() === 'text' && (column.enumValues ?? []).length === 0 && !codes.test(name);
    return [name, isFree ? text : undefined];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Fields<T>;
}

/**
 * A provider with at least one row in every table; `ids` has one of each. All of them have the same titles, codes and
 * e-mails.
 */
export async function createOwner(testApp: TestApp) {
  const me = await testApp.createProvider(marker);
  const providerId = me.id;
  const own = (at: string) => ({ providerId, createdAt: at, updatedAt: at });
  await write(me, (tx) => tx.update(providers).set(marked(providers)).where(eq(providers.id, providerId)));

  await write(me, (tx, now) => {
    const texts = { en: { greeting: marker, footer: marker, reply_to: null } };
    return tx.insert(bookingSettings).values({ ...own(now), texts });
  });
  await write(me, async (tx, now) => {
    await tx.insert(catalogSettings).values({ ...own(now), ...marked(catalogSettings), host: null });
    await tx.insert(catalogNames).values({ ...own(now), name: `${marker}-${providerId}` });
  });

  const person = await write(me, async (tx, now) => {
    const named = { ...(marked(adminUsers) as typeof adminUsers.$inferInsert), email: `${marker}@x.example` };
    const values = { ...named, createdAt: now };
    // A person is shared by all providers.
    await tx.insert(adminUsers).values(values).onConflictDoNothing();
    const [{ id: adminUserId } = { id: 0 }] = await tx
      .select()
      .from(adminUsers)
      .where(eq(adminUsers.email, named.email));
    await tx.insert(adminMemberships).values({ ...marked(adminMemberships), ...own(now), adminUserId });
    const role = { ...(marked(roles) as typeof roles.$inferInsert), ...own(now) };
    const [{ id: roleId } = { id: 0 }] = await tx.insert(roles).values(role).returning();
    await tx.insert(adminMembershipRoles).values({ providerId, adminUserId, roleId });
    return { adminUserId, roleId };
  });
  const { adminUserId } = person;

  const parentCustomerId = await createCustomer(me, marked(customers));
  const customer = await createCustomer(me, { ...marked(customers), sellerId: adminUserId, parentCustomerId });
  const instructor = await addInstructor(me, { ...marked(instructors), adminUserId, showOnWeb: true });
  const placeId = await createPlace(testApp, `Place of all ${me.id}`);
  const numbers = ['cancellationDays', 'notificationDays', 'capacityBudget', 'capacityMax', 'capacityMin'] as const;
  const secret = Object.fromEntries(numbers.map((name) => [name, secretNumber]));
  const location = await addLocation(me, { ...marked(locations), ...secret, instructorId: instructor, placeId });

  const course = await me.course({ title: marker, tags: [{ title: marker }], labels: [{ title: marker }] });
  const category = await testApp.database.writeShared(async ({ tx, now }) => {
    const values = { title: 'Of all', slug: `of-all-${me.id}`, createdAt: now, updatedAt: now };
    return (await tx.insert(categories).values(values).returning())[0]!.id;
  });
  const words = await write(me, async (tx, now) => {
    await tx.update(courses).set(marked(courses)).where(eq(courses.id, course));
    await tx.update(products).set(marked(products)).where(eq(products.courseId, course));
    await tx.insert(courseCategories).values({ providerId, courseId: course, categoryId: category });
    const translation = { providerId, courseId: course, languageId: 'et-EE' };
    await tx.insert(courseTranslations).values({ ...marked(courseTranslations), ...translation });
    const [tag] = await tx.select().from(tags).where(eq(tags.providerId, providerId));
    const own = { title: `${marker} to delete`, createdAt: now, updatedAt: now, providerId };
    const [tagToDelete] = await tx.insert(tags).values(own).returning();
    const [label] = await tx.select().from(labels).where(eq(labels.providerId, providerId));
    return { tag: tag!.id, tagToDelete: tagToDelete!.id, label: label!.id };
  });
  const product = await createProduct(me, course, marked(products));
  const corporate = await me.course({ title: unlistedMarker, type: 'corporate', customer_id: customer });
  await write(me, (tx) => tx.update(courses).set(marked(courses, unlistedMarker)).where(eq(courses.id, corporate)));

  const bundle = await addBundle(me, marker);
  const placed = { locationId: location, placeId, bundleId: bundle, capacityMax: 10 };
  const date = await addDate(me, course, { ...marked(courseDates), ...placed });
  await addDate(me, course, { ...marked(courseDates), parentId: date });
  await addDate(me, course, {
    ...marked(courseDates, unlistedMarker),
    parentId: date,
    bundleId: bundle,
    isVisible: false,
  });
  const privateDate = await addDate(me, corporate, { ...marked(courseDates, unlistedMarker), bundleId: bundle });
  const gathering = await addGathering(me, date, { ...marked(gatherings), locationId: location }, [instructor]);
  await assignInstructor(me, date, instructor);

  const user = await createUser(me, { ...marked(courseUsers), customerId: customer });
  const userToMerge = await createUser(me);
  const userToErase = await createUser(me, { firstname: 'Kari' });
  const customerToMerge = await createCustomer(me);
  const named = { courses: [course], customers: [customer], tags: [words.tag] };
  const campaign = await createCampaign(me, { title: marker, campaignCode: marker }, named);
  const order = await createOrder(me, {
    courseId: course,
    dateId: date,
    users: [user],
    order: { ...marked(orders), customerId: customer, sellerId: adminUserId, campaignId: campaign },
    booking: marked(bookings),
    participant: marked(participants),
  });
  const { orderId: toExport } = await createOrder(me, { courseId: course, dateId: date, users: [user] });
  await createAttendance(me, order.participantIds[0]!, gathering, { attended: true });
  const payment = await write(me, async (tx, now) => {
    const values = { orderId: order.orderId, amount: '1', reference: marker, paidAt: now, ...own(now) };
    return (await tx.insert(payments).values(values).returning({ id: payments.id }))[0]!.id;
  });
  const mail = await write(me, async (tx, now) => {
    const sent = {
      providerId,
      createdAt: now,
      dueAt: now,
      sentAt: sql`now() - interval '1 day'`,
      address: `${marker}@x.example`,
      lastError: marker,
    };
    const values = { ...sent, purpose: 'notice_booked', participantId: order.participantIds[0]! } as const;
    return (await tx.insert(outbox).values(values).returning({ id: outbox.id }))[0]!.id;
  });
  await write(me, (tx, now) => {
    const values = { ...marked(courseInterests), providerId, courseId: course, createdAt: now };
    return tx.insert(courseInterests).values(values as typeof courseInterests.$inferInsert);
  });
  const worth = { amount: '100', balance: '100' };
  const voucher = await write(me, async (tx, now) => {
    const [added] = await tx
      .insert(vouchers)
      .values({ code: marker, ...own(now), ...worth })
      .returning();
    return added!.id;
  });

  const [webhook = 0, webhookToDelete = 0] = await write(me, async (tx, now) => {
    const position = { position: 1, positionClock: 1, dueAt: now, previousSecretExpiresAt: now, leasedUntil: null };
    const secrets = { secret: 'whsec_b3du', previousSecret: 'whsec_b3du' };
    const settings = { ...marked(webhooks), ...secrets, isActive: false };
    const values = { ...settings, ...own(now), ...position } as typeof webhooks.$inferInsert;
    const added = await tx.insert(webhooks).values([values, values]).returning({ id: webhooks.id });
    const attempt = { ...marked(webhookDeliveries), providerId, slot: 1, number: 1, at: now, durationMs: 1 };
    for (const { id } of added) {
      const delivery = { ...attempt, webhookId: id } as typeof webhookDeliveries.$inferInsert;
      await tx.insert(webhookDeliveries).values(delivery);
    }
    return added.map(({ id }) => id);
  });

  const others = await createOtherItems(me);
  await fillOtherTables(testApp, me);
  const ids = {
    ...{ webhook, webhookToDelete },
    ...{ provider: me.id, adminUser: adminUserId, role: person.roleId, customer, instructor, location, ...words },
    ...{
      course,
      corporate,
      date,
      gathering,
      privateDate,
      user,
      order: order.orderId,
      participant: order.participantIds[0]!,
    },
    ...{
      payment,
      mail,
      line: order.lineIds[0]!,
      userToMerge,
      userToErase,
      customerToMerge,
      toExport,
      product,
      booking: order.bookingId,
      campaign,
      voucher,
    },
  };
  return { me, ids: { ...ids, ...others } as typeof ids & Record<`/${string}`, number> };
}
export type Owner = Awaited<ReturnType<typeof createOwner>>;

/** Inserts rows with a text into each table of items that needs no more and has no row of the owner. */
export async function fillOtherTables({ database: { pool } }: TestApp, me: Provider, rowTexts = [marker]) {
  const { rows: tables } = await pool.query<{ name: string; texts: string[] | null }>(
    `select table_name as name, array_agg(column_name::text) filter (where data_type = 'text') as texts
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE' group by 1
      having array_agg(column_name::text) @> '{provider_id,id,created_at,updated_at}'
        and bool_and(is_nullable = 'YES' or is_identity = 'YES' or column_default is not null or data_type = 'text'
          or column_name in ('provider_id', 'created_at', 'updated_at'))`,
  );
  for (const { name, texts } of tables) {
    const { rows } = await pool.query(`select from ${name} where provider_id = $1 limit 1`, [me.id]);
    if (rows.length > 0 || texts === null) continue;
    const columns = sql.raw(['provider_id', 'created_at', 'updated_at', ...texts].join(', '));
    const valuesOf = (text: string) =>
      sql.join(
        texts.map(() => sql`${text}`),
        sql`, `,
      );
    await write(me, async (tx, now) => {
      for (const text of rowTexts) {
        const values = sql`${me.id}, ${now}, ${now}, ${valuesOf(text)}`;
        await tx.execute(sql`insert into ${sql.identifier(name)} (${columns}) values (${values})`);
      }
    });
  }
}

/** Actors with a valid key; `backwards` is a school that the owner may list, but not vice versa. */
export async function createActors({ database, createProvider }: TestApp, me: Provider) {
  const actors = {
    stranger: await createProvider(),
    partner: await createProvider(),
    pending: await createProvider(),
    revoked: await createProvider(),
    backwards: await createProvider(),
    subSchool: await createProvider(),
    parent: await createProvider(),
  };
  await approvePartner(database, actors.partner.id, me.id);
  await requestPartner(database, actors.pending.id, me.id);
  await approvePartner(database, actors.revoked.id, me.id);
  await revokePartner(database, actors.revoked.id, me.id);
  await approvePartner(database, me.id, actors.backwards.id);
  const setParent = (child: Provider, parentId: number) =>
    write(child, (tx) => tx.update(providers).set({ parentId }).where(eq(providers.id, child.id)));
  await setParent(actors.subSchool, me.id);
  await setParent(me, actors.parent.id);
  return actors;
}

/** Headers without a valid key. */
export async function createInvalidKeys(
  { database }: TestApp,
  me: Provider,
): Promise<[string, Record<string, string>][]> {
  const revoked = await createKey(await me.ctx(), {});
  await revokeKey(database, revoked.keyId);
  const expired = await createKey(await me.ctx(), { expires: '2020-01-01 00:00:00' });
  return [
    ['revoked key', { 'x-api-key': revoked.apiKey }],
    ['expired key', { 'x-api-key': expired.apiKey }],
    ['no key', {}],
  ];
}

/** All rows of a provider, and its admin users and course users. */
export async function dumpRows({ database: { pool } }: TestApp, providerId: number) {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and c.column_name = 'provider_id' and t.table_type = 'BASE TABLE'
        and c.table_name not in ('api_keys', 'api_key_uses', 'partner_connections', 'provider_state') order by 1`,
  );
  const existing: Record<string, unknown> = {};
  const dump = async (name: string, where: string) => {
    const text = `select coalesce(json_agg(t order by t::text), '[]') as rows from ${name} t where ${where}`;
    existing[name] = (await pool.query<{ rows: unknown }>(text, [providerId])).rows[0]!.rows;
  };
  for (const { name } of tables) await dump(name, 'provider_id = $1');
  await dump('providers', 'id = $1');
  await dump('admin_users', 'id in (select admin_user_id from admin_memberships where provider_id = $1)');
  return existing;
}

type Schema = {
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
  anyOf?: Schema[];
};
type Operation = {
  parameters?: { name: string; in: string; schema: Schema; deprecated?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses?: Record<string, unknown>;
};
export type Endpoint = { name: string; method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: string; operation: Operation };

/** Endpoints of an OpenAPI document that require a key, without the deprecated spellings of their parameters. */
export function toEndpoints(document: object): Endpoint[] {
  const { paths } = dereference<{ paths: Record<string, Record<string, Operation>> }>(document);
  return Object.entries(paths)
    .filter(([path]) => path !== '/live' && path !== '/ready')
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([lower, documented]) => {
        const method = lower.toUpperCase() as Endpoint['method'];
        const parameters = (documented.parameters ?? []).filter(({ deprecated }) => deprecated !== true);
        const operation = { ...documented, parameters };
        return { name: `${method} ${path}`, method, path, operation };
      }),
    );
}
export const getEndpoints = ({ app }: Pick<TestApp, 'app'>) => toEndpoints(app.swagger());
export const documentedEndpoints = toEndpoints(
  JSON.parse(readFileSync('test/snapshots/openapi.json', 'utf8')) as object,
).filter(({ name }) => isServed({ route: name }));

export const hasParameter = ({ operation }: Endpoint, name: string) =>
  operation.parameters?.some((parameter) => parameter.name === name) ?? false;
export const includeNames = ({ operation }: Endpoint) =>
  operation.parameters?.find(({ name }) => name === 'include[]')?.schema.anyOf?.[0]?.items?.enum ?? [];

/** Row that the `{id}` of a path or of all paths below a list refers to; of others an item that a POST creates. */
const idOfPath: Record<string, keyof Owner['ids']> = {
  '/v2/courses': 'course',
  '/v2/courses/{course_id}/coursedates/{id}': 'date',
  '/v2/courses/{course_id}/coursedates/{id}/cancel': 'date',
  '/v2/coursedates': 'date',
  '/v2/locations': 'location',
  '/v2/instructors': 'instructor',
  '/v2/course-tags': 'tag',
  '/v2/admin-users': 'adminUser',
  '/v2/booking': 'booking',
  '/v2/customers': 'customer',
  '/v2/customers/{id}/merge': 'customerToMerge',
  '/v2/course-users': 'user',
  '/v2/course-users/{id}/erase': 'userToErase',
  '/v2/course-users/{id}/merge': 'userToMerge',
  '/v2/orders': 'order',
  '/v2/orders/{id}/export': 'toExport',
  '/v2/payments': 'payment',
  '/v2/participants': 'participant',
  '/v2/campaigns': 'campaign',
  '/v2/vouchers': 'voucher',
  '/v2/mails': 'mail',
  '/v2/webhooks': 'webhook',
};
/** The path of the list whose items are rows of a kind. */
export function listOfKind(kind: keyof Owner['ids']): string {
  const found = Object.entries(idOfPath).find(([path, one]) => one === kind && !path.includes('{'))?.[0];
  return found ?? kind;
}
const kindsByName: Record<string, keyof Owner['ids']> = { course_id: 'course', payment_id: 'payment' };
const toKind = (path: string, name: string): keyof Owner['ids'] =>
  kindsByName[name] ?? idOfPath[path] ?? idOfPath[itemsPath(path)] ?? (itemsPath(path) as `/${string}`);
/** Row that each path parameter refers to. */
export function idsInPath(path: string): Record<string, keyof Owner['ids']> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).filter((name) => name !== 'code');
  return Object.fromEntries(names.map((name) => [name, toKind(path, name)]));
}

/** An item of each list that `idOfPath` does not name, with the marker in its texts. */
async function createOtherItems(me: Provider) {
  const ids: Record<`/${string}`, number> = {};
  const kinds = new Set(documentedEndpoints.flatMap(({ path }) => Object.values(idsInPath(path))));
  for (const list of kinds) {
    if (!list.startsWith('/')) continue;
    const create = findWriteEndpoint(`POST ${list}`);
    if (!create) throw new Error(`name the item of ${list} in idOfPath of test/support/isolation.ts`);
    const texts = Object.entries(create.full).filter(([, value]) => isFreeText(value));
    ids[list as `/${string}`] = await post(me, list, {
      ...create.full,
      ...Object.fromEntries(texts.map(([name]) => [name, marker])),
    });
  }
  return ids;
}

export function idOfKind(ids: Owner['ids'], kind: keyof Owner['ids']): number {
  const id = ids[kind];
  if (id === undefined) throw new Error(`the owner has no ${kind}`);
  return id;
}
/** A path with the owner's ids; its codes are constant. */
export const fillPath = (path: string, ids: Owner['ids']) =>
  Object.entries(idsInPath(path)).reduce(
    (url, [name, kind]) => url.replace(`{${name}}`, String(idOfKind(ids, kind))),
    path.replace('{code}', marker),
  );

/** Required query parameters, with the owner's values. */
function requiredQueries(endpoint: Endpoint, ids: Owner['ids']) {
  if (hasParameter(endpoint, 'username'))
    return ['email', 'firstname', 'lastname', 'username'].map((name) => `${name}=${marker}`);
  if (hasParameter(endpoint, 'course_ids[]')) return [`course_ids=${ids.course},${ids.corporate}`];
  return endpoint.path.startsWith('/v2/campaigns/validate')
    ? [`coursedate_id=${ids.date}`, `course_id=${ids.course}`]
    : [''];
}

/**
 * Read requests of an endpoint: each include and all of them, with parameters that widen a list; `include` has the
 * names.
 */
export function readRequests(endpoint: Endpoint, ids: Owner['ids']) {
  const includes = includeNames(endpoint);
  const every = includes.map((name) => `include[]=${name}`).join('&');
  const flags = ['include_deleted=1', 'user_data=1', 'exported=1', 'paginate=1', 'description_language=et-EE'];
  const widened = flags.filter((flag) => hasParameter(endpoint, flag.split('=')[0]!)).map((flag) => `${flag}&${every}`);
  const partners = [`include_partners=1`, `partner_id=${ids.provider}`];
  const partnerQueries = hasParameter(endpoint, 'include_partners') ? ['', ...partners] : [''];
  const wordings = [
    { query: '', include: '' },
    ...includes.map((include) => ({ query: `include[]=${include}`, include })),
    ...[every, ...widened].map((query) => ({ query, include: undefined })),
  ];
  return requiredQueries(endpoint, ids).flatMap((request) =>
    partnerQueries.flatMap((partnerQuery) =>
      wordings.map(({ query, include }) => {
        const url = `${fillPath(endpoint.path, ids)}?${[request, partnerQuery, query].filter(Boolean).join('&')}`;
        return { url, include, partnerQuery };
      }),
    ),
  );
}

/** Matches parameters that refer to a row, by name or as a list of numbers. */
export function idParameters({ operation }: Endpoint): string[] {
  const body = operation.requestBody?.content['application/json']?.schema.properties ?? {};
  const sent = Object.entries(body).filter(
    ([name, schema]) =>
      isIdName(name) || (schema.anyOf?.[0]?.type === 'array' && JSON.stringify(schema).includes('"integer"')),
  );
  const query = (operation.parameters ?? []).filter(({ name }) => isIdName(name));
  return [...query.map((one) => `${one.in} ${one.name}`), ...sent.map(([name]) => `body ${name}`)];
}
const isIdName = (name: string) => /(^|_)ids?(\[\])?$|^id[A-Z]|[a-z]Ids?(\[\])?$/.test(name);

/** Paths of the marker in a response, without list indexes. */
export function markedPaths(text: string): string[] {
  const found = new Set<string>();
  const walk = (value: unknown, path: string) => {
    if (typeof value === 'string' && containsText(value)) found.add(path);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, below] of Object.entries(value)) {
      if (containsText(name)) found.add(path);
      walk(below, Array.isArray(value) ? path : [path, name].filter(Boolean).join('.'));
    }
  };
  const whole = JSON.parse(text) as { items?: unknown };
  walk(whole.items ?? whole, '');
  return [...found].sort();
}

/** The items of a response that is a list; closed members of foreign ones are hidden, so their number counts. */
export function listedIn(text: string): unknown[] {
  const body = JSON.parse(text) as unknown[] | { items?: unknown[] };
  return Array.isArray(body) ? body : (body.items ?? []);
}
