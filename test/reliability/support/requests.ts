import type pg from 'pg';
import {
  contentTypes,
  dialects,
  encodeBody,
  encodeForm,
  toPairs,
  hostileValues,
  type Fields,
} from '../../support/dialects.ts';
import type { RequestOptions, Client } from './client.ts';
import type { Operation, Schema } from './document.ts';

export type Generated = { operation: Operation; url: string; options: RequestOptions };
type Random = () => number;

/** Ids and codes by resource. */
export type Pool = Record<string, (number | string)[]>;

/** Fields of list items to collect, by resource. */
type Listed = { id: number; coursedate_id: number; user: { id: number } };
const lists: [string, string, (item: Listed) => number | string][] = [
  ['course', '/v2/courses?limit=250', ({ id }) => id],
  ['coursedate', '/v2/coursedates?limit=250', ({ coursedate_id }) => coursedate_id],
  ['location', '/v2/locations?limit=250', ({ id }) => id],
  ['instructor', '/v2/instructors?limit=250', ({ id }) => id],
  ['tag', '/v2/course-tags', ({ id }) => id],
  ['order', '/v2/orders?limit=250', ({ id }) => id],
  ['participant', '/v2/participants?limit=250', ({ id }) => id],
  ['customer', '/v2/customers?limit=250', ({ id }) => id],
  ['user', '/v2/participants?limit=250', ({ user }) => user.id],
  ['product', '/v2/orders/products?limit=250', ({ id }) => id],
  ['admin', '/v2/admin-users', ({ id }) => id],
  ['role', '/v2/admin-roles', ({ id }) => id],
  ['webhook', '/v2/webhooks', ({ id }) => id],
  ['mail', '/v2/mails?limit=250', ({ id }) => id],
];

/** Ids that no list contains. */
const idQueries: Record<string, string> = {
  booking: 'select id from bookings where provider_id = $1',
  label: 'select id from labels where provider_id = $1',
  code: `select code as id from vouchers where provider_id = $1
    union select campaign_code from campaigns where provider_id = $1 and campaign_code is not null`,
  // A path names a date under its own course.
  dated: `select course_id || '/coursedates/' || id as id from course_dates where provider_id = $1 and deleted_at is null`,
  paid: `select order_id || '/payments/' || id as id from payments where provider_id = $1`,
};

/** Collects the ids and codes of a school. */
export async function loadIds(client: Client, base: string, database: pg.Client, providerId: number): Promise<Pool> {
  const pool: Pool = { place: [1, 2], partner: [2, 3] };
  for (const [kind, path, getId] of lists) {
    const body = JSON.parse((await client.get(base + path)).text) as Listed[] | { items: Listed[] };
    pool[kind] = (Array.isArray(body) ? body : body.items).map(getId);
  }
  for (const [kind, text] of Object.entries(idQueries)) {
    const { rows } = await database.query<{ id: number | string }>(text, [providerId]);
    pool[kind] = rows.map(({ id }) => id);
  }
  return pool;
}

/** Resource that an id refers to, by field name and path. */
const fieldResources: [RegExp, string][] = [
  [/^(since|parent)_id$/, ''],
  [/^coursedate/, 'coursedate'],
  [/^course_ids?/, 'course'],
  [/^customer/, 'customer'],
  [/^location|idLocation/, 'location'],
  [/instructor/i, 'instructor'],
  [/^tag/, 'tag'],
  [/^label/, 'label'],
  [/^code/, 'code'],
  [/^(seller_id|idUser)$/, 'admin'],
  [/^user_id/, 'user'],
  [/^role/, 'role'],
  [/^place/, 'place'],
  [/^product/, 'product'],
  [/^partner/, 'partner'],
];
const pathResources: [RegExp, string][] = [
  [/coursedates/, 'coursedate'],
  [/courses/, 'course'],
  [/locations/, 'location'],
  [/instructors/, 'instructor'],
  [/orders/, 'order'],
  [/participants/, 'participant'],
  [/booking/, 'booking'],
  [/customers/, 'customer'],
  [/course-users/, 'user'],
  [/webhooks/, 'webhook'],
  [/mails/, 'mail'],
];
const findResource = (table: [RegExp, string][], text: string) => table.find(([pattern]) => pattern.test(text))?.[1];
const isId = (name: string) =>
  /(^|_)ids?$|^id[A-Z]|^(instructors|products|tags|labels)$/.test(name) && !/^status|^idStatus|^idPaid/.test(name);

/** Raw URL fragments that no encoder produces. */
const malformedFragments = [
  '%ff',
  '%',
  '%00',
  'a[__proto__][x]',
  '%ed%a0%80',
  '1e400',
  '%E2%80%AE',
  '..%2f..%2f',
  '+',
  '%250',
];
const words = [
  'Knots',
  'Førstehjelp 🚑',
  'ñ & co',
  "O'Hara",
  'a=b',
  '日本語',
  '<b>x</b>',
  '100 %',
  '中',
  'x'.repeat(200),
];
const days = ['2026-02-28', '2028-02-29', '2031-06-10', '9999-12-31', '0001-01-01', '2026-03-29', '2026-10-25'];
const times = ['09:00', '23:59:59', '00:00', '02:30'];

/** An empty segment or dots change the path; an overlong one matches no route. */
const encodeSegment = (value: unknown) =>
  encodeURIComponent(String(value).slice(0, 2_000).toWellFormed()).replace(/^\.*$/, '%20');

/** Forms of a query parameter. */
const queryForms: ((name: string, value: string) => string)[] = [
  (name, value) => `${name}=${value}`,
  (name, value) => `${name}[]=${value}&${name}[]=x`,
  (name, value) => `${name}[x]=${value}`,
  (name, value) => `${name}=${value}&${name}=x`,
  (name) => `${name}=`,
];

const hostileTexts = hostileValues.filter((value): value is string => typeof value === 'string');

/** Nothing listens there. */
const webhookUrl = 'http://127.0.0.1:1029/';

/**
 * Generates valid and invalid requests from the OpenAPI document, deterministically per seed. `queryNames` are the
 * parameters of all operations: each is sent to operations that lack it too.
 */
export function createGenerator(
  random: Random,
  { own, foreign }: { own: Pool; foreign: Pool },
  queryNames: readonly string[],
) {
  const integerBelow = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(values: readonly T[]) => values[integerBelow(values.length)]!;
  const chance = (share: number) => random() < share;
  let created = 0;

  function getId(name: string, path: string) {
    const kind = findResource(fieldResources, name) || findResource(pathResources, path) || pick(Object.keys(own));
    const pool = (chance(0.15) ? foreign : own)[kind] ?? [];
    return pool.length > 0 && !chance(0.05) ? pick(pool) : 1 + integerBelow(1_000);
  }

  function validText(name: string, { pattern = '', description = '' }: Schema, path: string) {
    if (path.startsWith('/v2/webhooks') && name === 'url') return webhookUrl;
    if (pattern.includes('@')) return `person-${(created += 1)}@people.example`;
    if (/ttp/i.test(pattern)) return pick(['https://x.example/?a=1&b=2', 'http://y.example']);
    if (/time.*_at$|^time_/.test(name)) return pick(times);
    if (name === 'gathering_at' || name === 'gathering_end_at') return `2031-06-10 ${pick(times.slice(0, 1))}`;
    if (/_at(_min|_max)?$|^date|^day/.test(name) || /yyyy/.test(description))
      return chance(0.7) ? pick(days) : `${pick(days)} ${pick(times)}`;
    if (name === 'timezone') return pick(['Europe/Oslo', 'Asia/Tokyo', 'UTC']);
    if (/title|name/.test(name)) return `${pick(words)} ${(created += 1)}`;
    return pick(words);
  }

  function validValue(name: string, schema: Schema, path: string, depth = 0): unknown {
    if (schema.enum) return pick(schema.enum);
    if (schema.anyOf) {
      const list = schema.anyOf.find(({ type }) => type === 'array');
      return validValue(name, list ?? pick(schema.anyOf), path, depth);
    }
    const type = [schema.type].flat().find((one) => one !== 'null');
    if (type === 'array')
      return Array.from({ length: 1 + integerBelow(2) }, () => validValue(name, schema.items ?? {}, path, depth));
    if (type === 'object') return validFields(schema, path, depth + 1);
    if (type === 'boolean') return chance(0.5);
    if (name === 'code' || (type === 'integer' && isId(name))) return getId(name, path);
    if (type === 'integer' || type === 'number') {
      const least = Math.max(schema.minimum ?? 0, 0);
      return Math.min(least + integerBelow(name === 'page' ? 2 : 20), schema.maximum ?? Infinity);
    }
    return validText(name, schema, path);
  }

  function validFields(
    { properties = {}, required = [], additionalProperties }: Schema,
    path: string,
    depth = 0,
  ): Fields {
    // At times each optional field is left out.
    const share = Math.min(4 / (Object.keys(properties).length + 1), 0.9);
    const fields: Fields = {};
    for (const [name, schema] of Object.entries(properties))
      if (required.includes(name) || chance(share))
        // The code of a new item, which its response shows.
        fields[name] = name === 'code' ? `${pick(words)} ${(created += 1)}` : validValue(name, schema, path, depth);
    if (additionalProperties && chance(0.7))
      fields[pick(['room', 'colour', 'no'])] = validValue('', additionalProperties, path);
    return fields;
  }

  /** Makes one value invalid, or adds an unknown field. */
  function corrupt(fields: Fields) {
    const names = [...Object.keys(fields), '__proto__', 'constructor', 'a[__proto__][x]', 'x'.repeat(300)];
    const name = pick(names);
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null && chance(0.6))
      corrupt(value[0] as Fields);
    else if (typeof value === 'object' && value !== null && !Array.isArray(value) && chance(0.6))
      corrupt(value as Fields);
    else if (chance(0.1)) Reflect.deleteProperty(fields, name);
    else
      Object.defineProperty(fields, name, {
        value: structuredClone(pick(hostileValues)),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }

  return (operation: Operation): Generated => {
    const { method, path, parameters, body } = operation;
    const isInvalid = chance(0.5);
    const options: Required<Pick<RequestOptions, 'method' | 'headers'>> & RequestOptions = { method, headers: {} };
    const segment = (schema: Schema, name: string) => {
      if (isInvalid && chance(0.3)) return chance(0.5) ? pick(malformedFragments) : encodeSegment(pick(hostileValues));
      const isOfPath = name === 'id' || name === 'code' || schema.type === 'integer';
      return encodeSegment(isOfPath ? getId(name === 'id' ? '' : name, path) : validValue(name, schema, path));
    };
    const pair = (kind: string) => pick((chance(0.1) ? foreign : own)[kind]!);
    let url = path;
    if (chance(0.7))
      url = url
        .replace('courses/{course_id}/coursedates/{id}', `courses/${pair('dated')}`)
        .replace('orders/{id}/payments/{payment_id}', `orders/${pair('paid')}`);
    const query: Fields = {};
    for (const { name, in: where, required, schema } of parameters) {
      if (where === 'path') url = url.replace(`{${name}}`, segment(schema, name));
      if (where === 'header' && chance(0.2)) options.headers[name] = `key-${integerBelow(500)}`;
      const isIncluded = required === true || /^(username|course_ids\[\])$/.test(name) || chance(3 / parameters.length);
      if (where === 'query' && isIncluded)
        query[name.replace('[]', '')] = validValue(name.replace('[]', ''), schema, path);
    }
    if (method === 'GET' && parameters.some(({ name }) => name === 'limit')) query['limit'] ??= 1 + integerBelow(4);
    if (isInvalid && method === 'GET') corrupt(query);
    let search = encodeForm(toPairs(query));
    if (isInvalid && chance(0.3)) {
      const value = encodeURIComponent(pick(hostileTexts).slice(0, 100).toWellFormed());
      search += `&${pick(queryForms)(pick(queryNames), value)}`;
    }
    if (isInvalid && chance(0.2)) search += `&${pick(['', 'limit=', 'since_id='])}${pick(malformedFragments)}`;
    // Only the URL length limit documents this response.
    if (search !== '') url += `?${search.slice(0, path.startsWith('/v2/') ? 40_000 : 12_000)}`;

    if (body) {
      const fields = validFields(body, path);
      if (isInvalid) corrupt(fields);
      const dialect = pick(dialects);
      options.headers['content-type'] = contentTypes[dialect];
      options.body = encodeBody(dialect, fields);
      if (isInvalid && chance(0.1)) options.body = options.body.slice(0, integerBelow(options.body.length));
    }
    if (chance(0.1)) options.headers['accept-language'] = pick(['no', 'en', 'xx', '*;q=0', 'nb-NO,nb;q=0.9', ';;;']);
    return { operation, url, options };
  };
}
