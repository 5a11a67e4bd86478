import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../../src/core/error-codes.ts';
import { keyProfiles } from '../../../src/core/api-key.ts';
import * as reference from '../../../src/core/reference/courses.ts';
import { units } from '../../../src/core/reference/courses.ts';
import { courseDateStatuses } from '../../../src/core/reference/statuses.ts';
import { campaignTypes, discountTypes } from '../../../src/domains/orders/campaigns/fields.ts';
import { seatsStatuses } from '../../../src/domains/courses/seats/schema.ts';
import { CourseType, PublishingPlatform } from '../../../src/domains/courses/courses/schema.ts';
import { customerStatuses, customerTypes } from '../../../src/domains/people/customers/schema.ts';
import { entrySources, paidStates } from '../../../src/domains/participants/participants/schema.ts';
import { participantStatuses } from '../../../src/core/reference/participant-statuses.ts';
import { keyedWrites } from '../../support/keyed-writes.ts';
import { findWriteEndpoint } from '../../support/request-bodies.ts';
import { createVoucher } from '../../support/booking.ts';
import { toCompactJson } from '../../support/compact-json.ts';
import * as documented from '../../support/document.ts';
import * as booking from '../../support/documents/booking.ts';
import * as dates from '../../support/documents/dates.ts';
import * as people from '../../support/documents/people.ts';
import { createCampaign } from '../../support/orders.ts';
import { createIds, fillIds } from '../../support/path-items.ts';
import { dereference, findRepeatedSchemas } from '../../support/openapi.ts';
import { send, sharedTestApp, type Provider } from '../../support/test-app.ts';

const { app, createProvider } = await sharedTestApp();

type Schema = {
  type?: string | string[];
  description?: string;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
};
type Operation = {
  tags: string[];
  requestBody?: { required: boolean; content: { 'application/json': { example?: object } } };
  responses: Record<string, { content: Record<string, { schema: Schema }> }>;
};
const document = app.swagger();
const { schemas } = (document as unknown as { components: { schemas: Record<string, Schema> } }).components;
const { tags, paths } = dereference<{
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
}>(document);
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);
const keyed = operations.filter(({ path }) => !['/live', '/ready'].includes(path));
const responseSchema = (path: string, method: string, status: string) =>
  paths[path]![method]!.responses[status]!.content['application/json']!.schema;

test('the OpenAPI document matches the reviewed snapshot', async () => {
  // Without the plugin that serves the guides it links none.
  const { externalDocs } = JSON.parse(readFileSync('test/snapshots/openapi.json', 'utf8')) as { externalDocs: object };
  const complete = { ...document, externalDocs: document.externalDocs ?? externalDocs };
  await expect(toCompactJson(complete)).toMatchFileSnapshot('../../snapshots/openapi.json');
});

test('every endpoint declares the profiles of the keys that may call it', () => {
  const declared = keyed.map(({ method, path, operation }) => ({
    name: `${method} ${path}`,
    profiles: (operation as unknown as { 'x-key-profiles'?: string[] })['x-key-profiles'] ?? [],
  }));
  expect(declared.filter(({ profiles }) => !profiles.includes('full')).map(({ name }) => name)).toEqual([]);
  const unknown = declared
    .flatMap(({ profiles }) => profiles)
    .filter((one) => !(keyProfiles as readonly string[]).includes(one));
  expect(unknown).toEqual([]);
});

describe('the components', () => {
  test('no object or enum is repeated inline', () => {
    expect(findRepeatedSchemas(document)).toEqual([]);
  });

  test('a repeated object schema is found', () => {
    const inline = { type: 'object', properties: { id: { type: 'integer' } } };
    const repeated = {
      components: { schemas: { A: { properties: { b: inline, c: { ...inline, description: 'C' } } } } },
    };
    expect(findRepeatedSchemas(repeated)).toEqual([
      ['components/schemas/A/properties/b', 'components/schemas/A/properties/c'],
    ]);
    const named = {
      components: { schemas: { A: inline, B: { properties: { a: { $ref: '#/components/schemas/A' } } } } },
    };
    expect(findRepeatedSchemas(named)).toEqual([]);
  });

  test('an inline object that equals a component is found', () => {
    const pet = { type: 'object', properties: { id: { type: 'integer' } } };
    const repeated = { components: { schemas: { A: pet, B: { properties: { a: { ...pet, description: 'An A' } } } } } };
    expect(findRepeatedSchemas(repeated)).toEqual([['components/schemas/A', 'components/schemas/B/properties/a']]);
  });

  test('a repeated enum is found, nullable or not', () => {
    const size = { type: 'string', enum: ['small', 'large'], default: 'small' };
    const nullable = { type: ['string', 'null'], enum: ['small', 'large', null] };
    expect(findRepeatedSchemas({ components: { schemas: { A: { properties: { b: size, c: nullable } } } } })).toEqual([
      ['components/schemas/A/properties/b', 'components/schemas/A/properties/c'],
    ]);
    const used = { components: { schemas: { Size: size, A: { properties: { b: nullable } } } } };
    expect(findRepeatedSchemas(used)).toEqual([['components/schemas/Size', 'components/schemas/A/properties/b']]);
    const named = { components: { schemas: { Size: size, A: { $ref: '#/components/schemas/Size' } } } };
    expect(findRepeatedSchemas(named)).toEqual([]);
  });

  test('the message of a webhook is a component', () => {
    const { webhooks } = document as unknown as { webhooks: Record<string, { post: { requestBody: object } }> };
    expect(webhooks['change']!.post.requestBody).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/WebhookMessage' } } },
    });
  });

  test('the items of every list are components', () => {
    type Listed = { type?: string | string[]; items?: { $ref?: string } };
    const lists = Object.values(document.paths as Record<string, Record<string, Operation>>)
      .map(({ get }) => get?.responses['200']?.content['application/json']?.schema as Listed | undefined)
      .filter((schema) => schema?.type?.includes('array'));
    expect(lists.length).toBeGreaterThan(0);
    for (const { items } of lists as Listed[]) expect(items).toEqual({ $ref: expect.any(String) });
  });

  test('a repeated map is found, nullable or not', () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    const repeated = {
      components: { schemas: { A: { properties: { b: map, c: { ...map, type: ['object', 'null'] } } } } },
    };
    expect(findRepeatedSchemas(repeated)).toEqual([
      ['components/schemas/A/properties/b', 'components/schemas/A/properties/c'],
    ]);
  });

  test('codes of requests have a description with each title', () => {
    expect(schemas['CourseLevelId']).toMatchObject({ description: expect.stringContaining('6: Courses') });
    expect(schemas['CourseDateStatusId']).toMatchObject({ description: expect.stringContaining('3: Canceled') });
    expect(schemas['CustomerTypeId']).toMatchObject({ description: '1: Company, 2: Private' });
    const unnamed = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties as Record<string, { enum?: unknown[]; description?: string }>)
        .filter(
          ([, field]) => typeof field.enum?.[0] === 'number' && !field.description?.includes(`${field.enum[0]}: `),
        )
        .map(([field]) => `${name}.${field}`),
    );
    expect(unnamed).toEqual([]);
  });

  const customerTitles = (titles: Map<number, string>) => [...titles.values()];
  const statusCodes = [...participantStatuses.values()].map(({ code }) => code);
  test.each<[string, string, Iterable<string | number>]>([
    ['ParticipantStatus', 'id', participantStatuses.keys()],
    ['ParticipantStatus', 'status_code', statusCodes],
    ['PaymentStatus', 'id', paidStates.keys()],
    ['Participant', 'idPaid', paidStates.keys()],
    ['Participant', 'entry_source', entrySources.keys()],
    ['CourseDateStatus', 'id', courseDateStatuses.keys()],
    ['CourseDateStatus', 'idType', courseDateStatuses.keys()],
    ['CourseDate', 'status_id', courseDateStatuses.keys()],
    ['CourseDate', 'seats_status', seatsStatuses.keys()],
    ['ParticipantCourseDate', 'idStatus', courseDateStatuses.keys()],
    ['CourseLevel', 'id', reference.levels.keys()],
    ['FormOfTeaching', 'id', reference.formsOfTeaching.keys()],
    ['TimeOfDay', 'id', reference.timesOfDay.keys()],
    ['CourseDuration', 'code', [...units.values()].map(({ code }) => code)],
    ['Course', 'type', CourseType['enum'] as string[]],
    ['Course', 'publishing_platform', PublishingPlatform['enum'] as string[]],
    ['Customer', 'idStatus', customerStatuses.keys()],
    ['Customer', 'status', customerTitles(customerStatuses)],
    ['Customer', 'type', customerTitles(customerTypes)],
    ['BatchBookingError', 'code', errorCodes],
    ['WhoAmIKey', 'profile', keyProfiles],
    ['Campaign', 'type', campaignTypes],
    ['Campaign', 'discount_type', discountTypes.keys()],
  ])('%s.%s of a response has each code as a value, or a description with each', (component, member, expected) => {
    const { $ref = '', ...own } = schemas[component]!.properties![member]! as Schema & { $ref?: string };
    const { enum: values, description } = (schemas[$ref.split('/').at(-1)!] ?? own) as Schema & { enum?: unknown[] };
    expect(values === undefined).toBe(component === 'Course');
    if (values) expect(values.map(String)).toEqual([...expected].map(String));
    for (const code of values ? [] : expected) {
      expect(description).toMatch(
        typeof code === 'number' ? new RegExp(`(^|, )${code}: `) : new RegExp(`\\b${code}\\b`),
      );
    }
  });

  test.each(['CourseCreate', 'BookingCreate', 'CustomerCreate', 'LocationCreate'])(
    'every field of %s has a description',
    (name) => {
      const isReference = (field: Schema) => JSON.stringify(field).includes('"$ref"');
      const fields = Object.entries(schemas[name]!.properties!).filter(([, field]) => !isReference(field));
      expect(fields.length).toBeGreaterThan(0);
      expect(fields.filter(([, { description }]) => !description).map(([field]) => field)).toEqual([]);
    },
  );

  test('a description beside a reference is kept', () => {
    expect(schemas['CourseDateCreate']!.properties!['teaching_language']).toEqual({
      anyOf: [{ $ref: '#/components/schemas/TeachingLanguageCode' }, { type: 'null' }],
      description: "The course's language unless sent",
    });
    expect(schemas['CourseCreate']!.properties!['level']).toEqual({
      anyOf: [{ $ref: '#/components/schemas/CourseLevelId' }, { type: 'null' }],
      default: 6,
    });
  });
});

describe('responses and parameters', () => {
  type Header = { description: string };
  type Documented = {
    parameters?: {
      name: string;
      in: string;
      description?: string;
      style?: string;
      explode?: boolean;
      deprecated?: boolean;
    }[];
    responses: Record<string, { description: string; headers?: Record<string, Header>; content?: object }>;
  };
  const all = operations.map(({ method, path, operation }) => ({
    name: `${method} ${path}`,
    ...(operation as unknown as Documented),
  }));
  const headersOf = (name: string) =>
    Object.keys(all.find((one) => one.name === name)!.responses['200']!.headers ?? {}).sort();

  test('no operation names a parameter in the path and in the query', () => {
    const names = all.flatMap(({ name, parameters = [] }) =>
      parameters.map((one) => `${name} ${one.name.replace('[]', '')}`),
    );
    expect(names.filter((one, n) => names.indexOf(one) < n)).toEqual([]);
  });

  test('every response has a description and names the request id', () => {
    for (const { name, responses } of all) {
      for (const [status, { description, headers }] of Object.entries(responses)) {
        expect(description, `${name} ${status}`).not.toBe('Default Response');
        expect(Object.keys(headers ?? {}), `${name} ${status}`).toContain('X-Request-Id');
      }
    }
  });

  test('lists document their headers, and 304 if they have an ETag', () => {
    const every = ['Preference-Applied', 'X-Ignored-Parameters', 'X-Request-Id'];
    const paged = ['Link', ...every, 'X-Page-Truncated', 'X-Updated-Through'].sort();
    expect(headersOf('GET /v2/courses')).toEqual(['ETag', ...paged]);
    expect(headersOf('GET /v2/durations')).toEqual(['ETag', ...every]);
    expect(headersOf('GET /v2/campaigns')).toEqual([...every, 'X-Updated-Through']);
    const withEtag = all.filter(({ responses }) => responses['200']?.headers?.['ETag']).map(({ name }) => name);
    const withNotModified = all.filter(({ responses }) => responses['304']).map(({ name }) => name);
    expect(withNotModified).toEqual(withEtag);
    expect(all.find(({ name }) => name === 'GET /v2/courses')!.responses['304']!.content).toBeUndefined();
  });

  test('every parameter has a description, and a list is one parameter with its serialization', () => {
    let lists = 0;
    for (const { name, parameters = [] } of all) {
      for (const parameter of parameters) {
        expect(parameter.description, `${name} ${parameter.name}`).toBeTruthy();
        if (!parameter.name.endsWith('[]')) continue;
        lists += 1;
        expect(parameter).toMatchObject({ style: 'form', explode: true });
        const isAlias = (one: { name: string; in: string }) => one.in === 'query' && `${one.name}[]` === parameter.name;
        expect(parameters.filter(isAlias)).toEqual([]);
      }
    }
    expect(lists).toBeGreaterThan(0);
  });
});

test('headers are declared for the operations on which they have an effect', () => {
  type Sent = { parameters?: { name: string; in: string }[] };
  const sentTo = (name: string) => {
    const found = operations.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name)!;
    const { parameters = [] } = found.operation as Sent;
    return parameters.filter((one) => one.in === 'header').map((one) => one.name);
  };
  expect(sentTo('GET /v2/courses')).toEqual(['Prefer', 'If-None-Match', 'Accept-Language']);
  expect(sentTo('GET /v2/orders')).toEqual(['Prefer', 'If-None-Match', 'Accept-Language']);
  expect(sentTo('GET /v2/payments')).toEqual(['Prefer', 'If-None-Match']);
  expect(sentTo('PUT /v2/participants/{id}')).toEqual(['Prefer', 'Accept-Language']);
  expect(sentTo('POST /v2/booking')).toEqual(['Idempotency-Key', 'Prefer']);
  expect(sentTo('GET /live')).toEqual([]);
});

test('fields of objects in a body are nullable where they are accepted so', () => {
  const isNullable = (schema: string, member: string) =>
    JSON.stringify(schemas[schema]!.properties![member]).includes('"null"');
  for (const schema of ['BatchBookingItem', 'BookingCreate']) {
    expect(
      ['campaign_code', 'config', 'customer_id', 'waiting_together'].filter((one) => !isNullable(schema, one)),
    ).toEqual([]);
    expect(['coursedate_id', 'payment_method'].filter((one) => isNullable(schema, one))).toEqual([]);
  }
  expect(isNullable('BatchBookingItem', 'idempotency_key')).toBe(false);
  for (const schema of ['ParticipantPerson', 'BookingParticipant'])
    expect(['phone', 'company', 'position', 'date_of_birth'].filter((one) => !isNullable(schema, one))).toEqual([]);
});

test('prices are said to be without VAT, and the limit to have no maximum', () => {
  for (const [schema, member] of [
    ['CoursePrice', 'value'],
    ['Product', 'price'],
    ['OrderProduct', 'price'],
    ['CourseCreate', 'price_value'],
  ] as const)
    expect((schemas[schema]!.properties![member] as { description?: string }).description).toContain('without VAT');
  const { parameters } = paths['/v2/customers']!['get'] as unknown as {
    parameters: { name: string; schema: object; description: string }[];
  };
  const limit = parameters.find(({ name }) => name === 'limit')!;
  expect(limit.schema).not.toHaveProperty('maximum');
  expect(limit.description).toContain('more than 250 counts as 250');
});

test('an update names the members that it takes as they are read', () => {
  const { description } = paths['/v2/customers/{id}']!['put'] as unknown as { description: string };
  for (const name of ['webaddress', 'duedate_days', 'post_address', 'country'])
    expect(description).toContain(`\`${name}\``);
});

test('no maximum is the largest integer of JavaScript, which is no limit for a client', () => {
  const text = JSON.stringify(document);
  expect(text).toContain('"maximum":2147483647');
  expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER));
});

test('the document declares exactly the tags of its endpoints', () => {
  const used = new Set(operations.flatMap(({ operation }) => operation.tags));
  expect([...used].sort()).toEqual(tags.map(({ name }) => name).sort());
});

/** A JSON schema in the notation of the transcribed tables. */
function toTypes(schema: Schema): unknown {
  const types = [schema.type].flat();
  if (types.includes('array')) return [toTypes(schema.items!)];
  if (!types.includes('object')) return types.join('|');
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const propertyTypes = [property.type].flat();
      const nullable = propertyTypes.includes('null') && propertyTypes.includes('object');
      return [nullable ? `${name}|null` : name, toTypes(property)];
    }),
  );
}

const listOrEnvelope = responseSchema('/v2/courses', 'get', '200');
test.each<[string, Schema, unknown]>([
  ['Course', listOrEnvelope.items!, { ...documented.course, ...documented.courseIncludes }],
  [
    'Course in the envelope',
    listOrEnvelope.properties!['items']!.items!,
    { ...documented.course, ...documented.courseIncludes },
  ],
  [
    'Course by its id',
    responseSchema('/v2/courses/{id}', 'get', '200'),
    { ...documented.course, ...documented.courseItemIncludes },
  ],
  ['Duration', responseSchema('/v2/durations', 'get', '200').items!, documented.duration],
  ['School', responseSchema('/v2/schools', 'get', '200').properties!['school']!, documented.school],
  ['School, older interface', responseSchema('/schools', 'get', '200').properties!['school']!, documented.legacySchool],
  ['Course tag', responseSchema('/v2/course-tags', 'get', '200').items!, documented.courseTag],
  ['Course tag, created', responseSchema('/v2/course-tags', 'post', '201'), documented.courseTag],
  ['Course tag by its id', responseSchema('/v2/course-tags/{id}', 'get', '200'), documented.courseTag],
  ['Course tag, renamed', responseSchema('/v2/course-tags/{id}', 'put', '200'), documented.courseTag],
  ['Course tag, deleted', responseSchema('/v2/course-tags/{id}', 'delete', '200'), documented.courseTag],
  ['Course tag, found', responseSchema('/v2/course-tags', 'post', '200'), documented.courseTag],
  [
    'Course date',
    responseSchema('/v2/coursedates', 'get', '200').properties!['items']!.items!,
    { ...dates.courseDate, ...dates.courseDateIncludes },
  ],
  [
    'Date of a course',
    responseSchema('/v2/courses/{course_id}/coursedates', 'get', '200').items!,
    { ...dates.courseDate, ...dates.courseDateIncludes },
  ],
  [
    'Course date, alone',
    responseSchema('/v2/courses/{course_id}/coursedates/{id}', 'get', '200'),
    { ...dates.courseDate, ...dates.courseDateIncludes },
  ],
  [
    'Course date of a batch',
    responseSchema('/v2/batch/coursedates', 'get', '200').items!,
    { ...dates.courseDate, ...dates.courseDateIncludes },
  ],
  [
    'Course date, created',
    responseSchema('/v2/courses/{course_id}/coursedates', 'post', '201'),
    dates.courseDateWritten,
  ],
  [
    'Course date, updated',
    responseSchema('/v2/courses/{course_id}/coursedates/{id}', 'put', '200'),
    dates.courseDateWritten,
  ],
  [
    'Course date, deleted',
    responseSchema('/v2/courses/{course_id}/coursedates/{id}', 'delete', '200'),
    dates.courseDateWritten,
  ],
  [
    'Next course date',
    responseSchema('/v2/nextcoursedates', 'get', '200').items!,
    { ...dates.courseDate, ...dates.nextCourseDateIncludes },
  ],
  ['Location', responseSchema('/v2/locations', 'get', '200').items!, dates.location],
  ['Location by its id', responseSchema('/v2/locations/{id}', 'get', '200'), dates.location],
  ['Location, created', responseSchema('/v2/locations', 'post', '201'), dates.location],
  ['Location, updated', responseSchema('/v2/locations/{id}', 'put', '200'), dates.location],
  ['Instructor', responseSchema('/v2/instructors', 'get', '200').items!, dates.instructor],
  ['Instructor, created', responseSchema('/v2/instructors', 'post', '201'), dates.instructor],
  ['Instructor, updated', responseSchema('/v2/instructors/{id}', 'put', '200'), dates.instructor],
  ['Instructor by its id', responseSchema('/v2/instructors/{id}', 'get', '200'), dates.instructor],
  ['Instructor, archived', responseSchema('/v2/instructors/{id}', 'delete', '200'), dates.instructor],
  [
    'Customer',
    responseSchema('/v2/customers', 'get', '200').items!,
    { ...people.customer, ...people.customerIncludes },
  ],
  [
    'Customer by its id',
    responseSchema('/v2/customers/{id}', 'get', '200'),
    { ...people.customer, ...people.customerIncludes },
  ],
  ['Course user', responseSchema('/v2/course-users/{id}', 'get', '200'), people.courseUser],
  [
    'Course user, of a customer',
    responseSchema('/v2/customers/{id}/employees', 'get', '200').items!,
    people.courseUser,
  ],
  ['Course user, searched', responseSchema('/v2/search-users', 'get', '200').items!, people.courseUser],
  ['Admin user', responseSchema('/v2/admin-users', 'get', '200').items!, people.adminUser],
  ['Admin user, created', responseSchema('/v2/admin-users', 'post', '201'), people.adminUser],
  ['Sign-on', responseSchema('/v2/check-user-credentials', 'post', '200'), people.signOn],
  ['App user', responseSchema('/v2/app-users', 'get', '200').items!, people.appUser],
  ['Role', responseSchema('/v2/admin-roles', 'get', '200').items!, people.role],
  ['Booking', responseSchema('/v2/booking', 'post', '201'), booking.booking],
  ['Booking link', responseSchema('/v2/booking/{id}/link', 'post', '200'), booking.linkSent],
  ['Campaign, looked up', responseSchema('/v2/campaigns/validate/{code}', 'get', '200'), booking.validCampaign],
  ['Voucher, looked up', responseSchema('/v2/vouchers/validate/{code}', 'get', '200'), booking.validVoucher],
])('%s has the documented fields and types', (_name, schema, table) => {
  // The snapshot shows members that the document does not have.
  expect(toTypes(schema)).toMatchObject(table as object);
});

test('deregister returns list participants and an update returns one of them', () => {
  const { participants, ...own } = toTypes(responseSchema('/v2/booking/{id}/deregister', 'put', '200')) as Record<
    string,
    unknown
  >;
  expect(own).toEqual(booking.deregistered);
  const listed = toTypes(responseSchema('/v2/participants', 'get', '200').items!);
  expect(participants).toEqual([listed]);
  expect(toTypes(responseSchema('/v2/participants/{id}', 'put', '200'))).toEqual(listed);
});

const ofBooking = [
  '/v2/booking',
  '/v2/booking/{id}',
  '/v2/booking/{id}/deregister',
  '/v2/booking/{id}/link',
  '/v2/batch/booking',
  '/v2/campaigns/validate/{code}',
  '/v2/vouchers/validate/{code}',
];
test.each(keyed)('$method $path documents the error format of its interface', ({ path, operation }) => {
  const failures = Object.entries(operation.responses).filter(([status]) => /^[45]/i.test(status));
  expect(failures.length).toBeGreaterThan(0);
  for (const [, { content }] of failures) {
    const said = toTypes(content['application/json']!.schema);
    if (ofBooking.includes(path)) expect(said).toEqual(booking.failure);
    else expect(said).not.toHaveProperty('successful');
  }
});

test.each<[string, Schema, object]>([
  ['course', listOrEnvelope.items!, documented.courseIncludes],
  ['course by its id', responseSchema('/v2/courses/{id}', 'get', '200'), documented.courseItemIncludes],
  ['customer', responseSchema('/v2/customers', 'get', '200').items!, people.customerIncludes],
])('every field of a %s is required except includes', (_name, schema, includes) => {
  const optional = Object.keys(schema.properties!).filter((name) => !schema.required!.includes(name));
  expect(optional).toEqual(Object.keys(includes));
});

// Optimizing the code of so many validators takes longer than running it.
const ajv = formats.default(new Ajv2020({ strict: false, code: { optimize: false } }));

describe.each(keyed)('$method $path', ({ method, path, operation }) => {
  const older = !path.startsWith('/v2/');
  const error = 'Wrong API Key';
  const wrongKey = ofBooking.includes(path)
    ? { successful: false, errors: [{ code: 'unauthorized', message: error }], error }
    : older
      ? { status: 'failure', message: error }
      : { error };

  test('requires a key, with the 401 format of its interface', async () => {
    for (const headers of [{}, { 'x-api-key': 'wrong' }, { 'x-api-key': 'x'.repeat(64) }]) {
      const url = path.replaceAll(/\{\w+\}/g, '1');
      const response = await send(app, { method: method, url, headers });
      expect([response.status, response.json()]).toEqual([401, wrongKey]);
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });

  test('response matches its schema', async () => {
    const me = await createProvider();
    await me.course({ tags: [{ title: 'a' }], duration_value: 1, duration_unit: 1, custom_properties: { a: 'b' } });
    const prepared = await keyedWrites.find(({ route }) => route === `${method} ${path}`)?.prepare(me);
    const url = prepared?.path ?? (await lookUp[path]?.(me)) ?? (await pathFor(me, path)) + (query[path] ?? '');
    const documentedBody = operation.requestBody?.content['application/json'].example;
    const minimalBody = findWriteEndpoint(`${method} ${path}`)?.minimal;
    const body = method === 'GET' ? undefined : (prepared?.body ?? minimalBody ?? documentedBody);
    const response = await me.request(method)(url, body);
    expect(response.status).toBeLessThan(300);
    const schema = operation.responses[String(response.status)]!.content['application/json']!.schema;
    expect(ajv.validate(schema, response.json()), JSON.stringify(ajv.errors)).toBe(true);
  });
});

/** Parameters that a list requires. */
const query: Record<string, string> = {
  '/v2/search-users': '?lastname=Nordmann',
  '/v2/batch/coursedates': '?course_ids=1',
};

/** Creates a code of the provider and returns the endpoint that validates it. */
const lookUp: Record<string, (me: Provider) => Promise<string>> = {
  '/v2/campaigns/validate/{code}': async (me) => {
    await createCampaign(me, { campaignCode: 'code' });
    return `/v2/campaigns/validate/code?course_id=${await me.course()}`;
  },
  '/v2/vouchers/validate/{code}': async (me) =>
    `/v2/vouchers/validate/${(await createVoucher(me, { amount: '100', expiresAt: '2030-01-01' })).code}`,
};

/** A path that refers to the provider's rows. */
const pathFor = async (me: Provider, path: string) => fillIds(path, await createIds(me, path));

describe('request schemas', () => {
  type Input = Schema & { anyOf?: Schema[]; enum?: string[]; minLength?: number; format?: string; pattern?: string };
  type Sent = {
    requestBody: { content: Record<string, { schema: { properties: Record<string, Input>; required?: string[] } }> };
    parameters: { name: string; schema: Input }[];
  };
  const sentBy = (path: string, method: string) => paths[path]![method] as unknown as Sent;
  const bodyOf = (path: string, method = 'post') =>
    sentBy(path, method).requestBody.content['application/json']!.schema.properties;
  const typesOf = ({ anyOf = [] }: Input) => anyOf.map(({ type }) => type);

  test('accept null in each field of a body that is not required, except dry_run', () => {
    const acceptsNull = ({ type, anyOf = [] }: Input): boolean =>
      [type].flat().includes('null') || anyOf.some((one) => acceptsNull(one));
    const bodies = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).flatMap((method) => {
        const { requestBody } = sentBy(path, method) as Partial<Sent>;
        return requestBody ? [[`${method} ${path}`, requestBody.content['application/json']!.schema] as const] : [];
      }),
    );
    const fields = bodies.flatMap(([name, { properties, required = [] }]) => {
      const optional = Object.entries(properties).filter(([field]) => !required.includes(field));
      return optional.map(([field, schema]) => [`${name}: ${field}`, acceptsNull(schema)] as const);
    });
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter(([name, isAccepted]) => isAccepted === name.endsWith(': dry_run'))).toEqual([]);
  });

  test('require a body only of the operations that refuse a request without one', async () => {
    const withBody = keyed.filter(({ operation, path }) => operation.requestBody && path.startsWith('/v2/'));
    const documented = withBody.map(({ method, path, operation }) => [
      `${method} ${path}`,
      operation.requestBody!.required,
    ]);
    const refused = withBody.map(async ({ method, path }) => {
      const me = await createProvider();
      const response = await me.request(method)(await pathFor(me, path));
      return [`${method} ${path}`, response.status === 400];
    });
    expect(await Promise.all(refused)).toEqual(documented);
    expect(documented).toContainEqual(['POST /v2/course-users/{id}/erase', false]);
  });

  test('accept lists as single items and texts', () => {
    expect(typesOf(bodyOf('/v2/admin-users')['role_ids']!)).toEqual(['array', 'integer', 'string']);
    expect(typesOf(bodyOf('/v2/courses')['tags']!)).toEqual(['array', 'integer', 'object', 'string', 'null']);
    expect(typesOf(bodyOf('/v2/courses/{id}', 'put')['tags']!)).toContain('null');
    expect(schemas['BookingCreate']!.properties!['participants']!.anyOf).toEqual([
      { type: 'array', minItems: 1, maxItems: 1_000, items: { $ref: '#/components/schemas/BookingParticipant' } },
      { $ref: '#/components/schemas/BookingParticipant' },
      { type: 'string', description: 'The list as JSON' },
      { type: 'null' },
    ]);
    const named = Object.fromEntries(sentBy('/v2/coursedates', 'get').parameters.map((one) => [one.name, one.schema]));
    for (const name of ['tag_ids[]', 'course_id[]'])
      expect(typesOf(named[name]!)).toEqual(['array', 'integer', 'string']);
  });

  test('accept codes in lower case', () => {
    const [codes, anyCase] = bodyOf('/v2/booking')['currency']!.anyOf as Input[];
    expect(codes!.enum).toContain('NOK');
    expect(['nok', 'Nok', 'n'].map((code) => new RegExp(anyCase!.pattern!).test(code))).toEqual([true, true, false]);
  });

  test('say that the currency of a booking response is in lower case', () => {
    const { summary } = responseSchema('/v2/booking', 'post', '201').properties as Record<string, Input>;
    expect(summary!.properties!['currency']).toMatchObject({ description: 'In lower case', examples: ['nok'] });
  });

  test('give the enforced lengths and formats of texts', () => {
    const school = bodyOf('/v2/schools', 'put');
    for (const name of ['org_nr', 'phone', 'post_address']) expect(school[name]!.minLength, name).toBe(1);
    const date = bodyOf('/v2/courses/{course_id}/coursedates');
    expect(date['start_at']!.format).toBe('date');
    const time = new RegExp(date['start_time_at']!.pattern!);
    expect(['09:00', '09:00:10', '24:00', '9:00'].map((text) => time.test(text))).toEqual([true, true, false, false]);
  });

  test('samples of rejected bookings have success false', () => {
    const { properties } = responseSchema('/v2/booking', 'post', '4XX') as { properties: Record<string, object> };
    expect(properties['successful']).toMatchObject({ examples: [false] });
  });
});
