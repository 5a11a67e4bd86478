import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countryCodes } from '../../support/documents/people.ts';
import { addAdminUser } from '../../support/dates.ts';
import * as kind from '../../support/field-generators.ts';
import {
  dialects,
  encodeBody,
  fieldErrors,
  omitVolatile,
  newEmail,
  hashRows,
  contentTypeHeader,
  endpointUrl,
  sendWrite,
  findWriteEndpoint,
  type Dialect,
  type Fields,
  type WriteEndpoint,
} from '../../support/request-bodies.ts';
import { write as writeRows } from '../../support/orders.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();
const me = await createProvider();
const other = await createProvider();

const newRole = (provider: Provider) =>
  writeRows(provider, async (tx, now) => {
    const { rows } = await tx.execute<{ id: number }>(
      `insert into roles (provider_id, title, created_at, updated_at) values (${provider.id}, 'R', '${now}', '${now}') returning id`,
    );
    return rows[0]!.id;
  });
const members = [await addAdminUser(me), await addAdminUser(me)];
const roles = [1, await newRole(me)];
const foreignIds = { member: await addAdminUser(other), role: await newRole(other) };
const unknown = 999_999_999;
const numRuns = runs(0.25);

const { choice, code, count, email, flag, oneOfIds: idAmong, listOfIds: idsAmong, text, title } = kind;
const [line, longLine, note] = [kind.line(255), kind.line(5_000), text(5_000)];
const profile = {
  phone_prefix: longLine,
  phone: longLine,
  email,
  position: longLine,
  company: line,
  description: note,
};

type Pair = readonly [name: string, value: unknown];
type WriteTarget = {
  endpoint: WriteEndpoint;
  /** They have the order of the document. */
  fields: Record<string, kind.FieldKind>;
  /** Ids that no row of the provider has. */
  foreign: Pair[];
  expected(input: Fields): Fields;
};

const addressOf = (input: Fields, prefix: string) => ({
  address: input[`${prefix}_address_1`] ?? null,
  address_2: input[`${prefix}_address_2`] ?? null,
  address_3: input[`${prefix}_address_3`] ?? null,
  zipcode: input[`${prefix}_zipcode`] ?? null,
  city: input[`${prefix}_city`] ?? null,
});
const addressFields = (prefix: string) =>
  Object.fromEntries(
    ['address_1', 'address_2', 'address_3', 'zipcode', 'city'].map((part) => [`${prefix}_${part}`, line]),
  );

const findEndpoint = (name: string) => findWriteEndpoint(name)!;
const anything = expect.anything() as unknown;
const texts = ['department', 'phone', 'fax', 'email', 'orgnr', 'invoice_email', 'customer_reference_id', 'note'];

const customer: WriteTarget = {
  endpoint: findEndpoint('POST /v2/customers'),
  fields: {
    ...{ title, department: line, type: choice([1, 2]), orgnr: longLine, email, phone: longLine, fax: longLine },
    ...{
      web_address: { ...longLine, valid: fc.constantFrom('https://a.example/?q=1&r=%20#x', 'HTTP://b.example') },
      customer_reference_id: line,
      country: code(countryCodes, ['XX', 'AQ', 'NOR', 'ß', 'ﬁ', 'ıs']),
    },
    ...{ ...addressFields('post'), ...addressFields('invoice'), invoice_customer_reference: line },
    ...{ invoice_due_days: count, invoice_email: email, ...addressFields('office') },
    ...{ seller_id: idAmong(members), note, status: choice([1, 2]) },
  },
  foreign: [foreignIds.member, unknown].map((id) => ['seller_id', id]),
  expected: (input) => ({
    title: input['title'],
    ...Object.fromEntries(texts.map((name) => [name, input[name] ?? null])),
    webaddress: input['web_address'] ?? null,
    customer_reference: input['invoice_customer_reference'] ?? null,
    turnover: null,
    always_use_customer_reference: 0,
    idStatus: input['status'] === 2 ? '2' : '1',
    idParentCustomer: null,
    invoice_method: 'electronic',
    country: { id: anything, title: anything, code: input['country'] ?? 'NO' },
    status: input['status'] === 2 ? 'Deactivated' : 'Active',
    type: input['type'] === 2 ? 'Private' : 'Company',
    duedate_days: input['invoice_due_days'] ?? 0,
    seller: input['seller_id'] === undefined ? null : (expect.objectContaining({ id: input['seller_id'] }) as unknown),
    invoice_address: addressOf(input, 'invoice'),
    post_address: addressOf(input, 'post'),
    visit_address: addressOf(input, 'office'),
    custom_properties: null,
    ...(input['type'] === 2 ? { employees: [] } : {}),
  }),
};

const filled = (input: Fields, names: string[]) => Object.fromEntries(names.map((name) => [name, input[name] ?? '']));

const instructor: WriteTarget = {
  endpoint: findEndpoint('POST /v2/instructors'),
  fields: { firstname: title, lastname: title, ...profile, show_on_web: flag, idUser: idAmong(members) },
  foreign: [foreignIds.member, unknown].map((id) => ['idUser', id]),
  expected: (input) => ({
    ...filled(input, ['firstname', 'lastname', ...Object.keys(profile)]),
    show_on_web: input['show_on_web'] ?? false,
    idUser: input['idUser'] ?? null,
    archived_at: null,
  }),
};

const person: WriteTarget = {
  endpoint: findEndpoint('POST /v2/admin-users'),
  fields: {
    email: { ...email, shown: title.shown! },
    ...{ role_ids: idsAmong(roles), firstname: title, lastname: title, position: longLine },
    ...{ phone_prefix: longLine, phone: longLine, booking_email: email, send_invite: flag },
  },
  foreign: [foreignIds.role, unknown, [1, foreignIds.role], `1,${unknown}`].map((ids) => ['role_ids', ids]),
  expected: (input) => ({
    ...filled(input, ['email', 'firstname', 'lastname', 'position', 'phone_prefix', 'phone', 'booking_email']),
    role_ids: input['role_ids'],
  }),
};

/** An update endpoint and the endpoint that creates its item: same fields, none required. */
const changes = [
  { ...customer, endpoint: findEndpoint('PUT /v2/customers/:id'), created: customer.endpoint },
  { ...instructor, endpoint: findEndpoint('PUT /v2/instructors/:id'), created: instructor.endpoint },
].map((target) => [target.endpoint.name, target] as const);
const creations = [customer, instructor, person].map((target) => [target.endpoint.name, target] as const);
const targets = [...creations, ...changes];

const needed = ({ endpoint }: WriteTarget) =>
  Object.keys(endpoint.minimal).filter((name) => !endpoint.fresh.includes(name));

/** All required fields and some optional ones, empty ones among them. */
function sentTo({ fields, endpoint }: WriteTarget, required: string[]) {
  const input = Object.entries(fields).filter(([name]) => !endpoint.fresh.includes(name));
  const values = input.map(([name, { valid }]) => {
    const orEmpty = fc.option(fc.oneof({ arbitrary: valid, weight: 3 }, fc.constantFrom('', null)), { nil: undefined });
    return [name, required.includes(name) ? valid : orEmpty] as const;
  });
  return fc.record(Object.fromEntries(values));
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';
/** Expected item for the fields sent; without the empty ones. */
const toExpected = ({ fields }: WriteTarget, sent: Fields): Fields =>
  Object.fromEntries(
    Object.entries(sent)
      .filter(([, value]) => !isEmpty(value))
      .map(([name, value]) => [name, fields[name]!.shown?.(value as never) ?? value]),
  );

/** A new e-mail address per request where one is required, with surrounding blanks. */
const newFields = ({ endpoint }: WriteTarget): Fields =>
  endpoint.fresh.includes('email') ? { email: ` ${newEmail()}\n` } : {};

/** A body with one to three invalid fields and some required ones missing, and the names of both. */
function invalidBodies(target: WriteTarget) {
  const { fields, endpoint } = target;
  // An update may omit required fields, but not send them empty.
  const empties = endpoint.method === 'PUT' ? ['', null] : [undefined, '', null];
  const pairOf = (name: string, values: fc.Arbitrary<unknown>) => values.map((value): Pair => [name, value]);
  const fault = fc
    .constantFrom(...Object.keys(fields))
    .chain((name) => pairOf(name, fc.constantFrom(...fields[name]!.invalid)));
  const errors = fc.uniqueArray(fault, { minLength: 1, maxLength: 3, selector: ([name]) => name });
  const missingFields = fc
    .subarray(endpoint.required.length ? endpoint.required : needed(target))
    .chain((names) => fc.tuple(...names.map((name) => pairOf(name, fc.constantFrom(...empties)))));
  return fc.tuple(sentTo(target, needed(target)), missingFields, errors).map(([sent, missingFields, errors]) => {
    const notValid = errors.map(([name]) => name);
    const missing = missingFields.map(([name]) => name).filter((name) => !notValid.includes(name));
    return { sent: { ...sent, ...Object.fromEntries([...missingFields, ...errors]) }, missing, notValid };
  });
}

describe.each(targets)('%s rejects', (_name, target) => {
  const { endpoint, fields } = target;
  const inOrder = (names: string[]) => Object.keys(fields).filter((name) => names.includes(name));

  type InvalidBody = { sent: Fields; missing?: string[]; notValid: string[] };
  async function refused({ sent, missing = [], notValid }: InvalidBody, asWhich: readonly Dialect[] = dialects) {
    for (const dialect of asWhich) {
      const response = await sendWrite(me, endpoint, dialect, { ...newFields(target), ...sent });
      expect(response.status, `${dialect}: ${response.text}`).toBe(400);
      expect(fieldErrors(response), dialect).toEqual({ missing: inOrder(missing), notValid: inOrder(notValid) });
    }
  }
  async function writingNothing(work: () => Promise<unknown>) {
    await endpointUrl(me, endpoint);
    const before = await hashRows(me);
    await work();
    expect(await hashRows(me)).toBe(before);
  }

  test('each invalid value by name and writes nothing', async () => {
    const { minimal } = endpoint;
    await writingNothing(async () => {
      for (const [name, { invalid, inJson }] of Object.entries(fields)) {
        const alone = (value: unknown) => ({ sent: { ...minimal, [name]: value }, notValid: [name] });
        for (const [n, value] of invalid.entries()) await refused(alone(value), [dialects[n % 3]!]);
        for (const value of inJson) await refused(alone(value), ['json']);
      }
    });
  });

  test('several invalid or missing fields by name and writes nothing', async () => {
    const check = (invalidBody: InvalidBody) => writingNothing(() => refused(invalidBody));
    await fc.assert(fc.asyncProperty(invalidBodies(target), check), { numRuns });
  });

  test('foreign and unknown ids and writes nothing', async () => {
    const check = (sent: Fields, [name, value]: Pair) =>
      writingNothing(() => refused({ sent: { ...sent, [name]: value }, notValid: [name] }));
    const foreign = fc.constantFrom(...target.foreign);
    await fc.assert(fc.asyncProperty(sentTo(target, needed(target)), foreign, check), { numRuns: runs(0.125) });
  });
});

test.each(creations)(
  '%s returns what was sent, in every body format',
  async (_name, target) => {
    const check = async (input: Fields) => {
      for (const dialect of dialects) {
        const sent = { ...input, ...newFields(target) };
        const response = await sendWrite(me, target.endpoint, dialect, sent);
        expect(response.status, `${dialect}: ${response.text}`).toBe(201);
        const read = await target.endpoint.read(me, response);
        expect(omitVolatile(read), dialect).toEqual(target.expected(toExpected(target, sent)));
        if ('id' in response.json()) expect(response.json()).toEqual(read);
      }
    };
    await fc.assert(fc.asyncProperty(sentTo(target, needed(target)), check), { numRuns });
  },
  60_000,
);

test.each(changes)(
  '%s changes only the sent fields, in every body format',
  async (_name, target) => {
    const names = needed(target);
    const check = async (before: Fields, change: Fields) => {
      const isKept = (name: string) =>
        change[name] === undefined || (target.fields[name] === flag && isEmpty(change[name]));
      const remaining = Object.entries(toExpected(target, before)).filter(([name]) => isKept(name));
      const after = { ...Object.fromEntries(remaining), ...toExpected(target, change) };
      for (const dialect of dialects) {
        const created = await sendWrite(me, target.created, dialect, before);
        const id = Object.values(created.json<Fields>())[0] as number;
        const url = target.endpoint.name.replace('PUT ', '').replace(':id', String(id));
        const response = await me.put(url, encodeBody(dialect, change), contentTypeHeader(dialect));
        expect(response.status, `${dialect}: ${response.text}`).toBe(200);
        expect(omitVolatile(await target.endpoint.read(me, response)), dialect).toEqual(target.expected(after));
      }
    };
    const change = sentTo(target, []).filter((sent) =>
      names.every((name) => sent[name] === undefined || !isEmpty(sent[name])),
    );
    await fc.assert(fc.asyncProperty(sentTo(target, names), change, check), { numRuns });
  },
  60_000,
);
