import fc from 'fast-check';
import { timestampsFor, type VariedData } from './varied-data.ts';

/** A query parameter's encoded value and its meaning. */
export type QueryParameter = { name: string; text: string; value: unknown };

/** Valid and invalid values of a query parameter, according to the interface document. */
export type Parameter = {
  /** A filter selects items; a setting changes the meaning of the others. */
  role: 'filter' | 'setting' | 'paging' | 'include';
  good: fc.Arbitrary<QueryParameter>;
  /** Encoded value. */
  bad: string[];
};
type Kind = (name: string) => Omit<Parameter, 'role'>;

const unstorable = ['%00', 'a%00', '%EF%BF%BD', '%ff', 'K%E6re', '100%', '%ed%a0%80'];
const noWords = ['x', '__proto__', 'constructor', '2026-02-30', '1e400', ...unstorable];
const noNumbers = ['-1', '1.5', '1e3', '0x1', '%2B5', '1%3B2', '9007199254740993', '9223372036854775808'];

const query = (name: string, value: unknown): QueryParameter => ({
  name,
  text: `${name}=${encodeURIComponent(String(value))}`,
  value,
});
/** A single value: repetitions and lists are rejected. */
const single =
  (good: readonly unknown[], bad: string[]): Kind =>
  (name) => ({
    good: fc.constantFrom(...good).map((value) => query(name, value)),
    bad: [
      ...bad.map((value) => `${name}=${value}`),
      ...good
        .slice(0, 1)
        .map((value) => encodeURIComponent(String(value)))
        .flatMap((value) => [`${name}[]=${value}`, `${name}[0]=${value}`, `${name}=${value}&${name}=${value}`]),
    ],
  });
const number = (good: readonly number[], bad: string[] = []) =>
  single(good, [...noNumbers, '%205', ...noWords, ...bad]);
const id = (good: readonly number[]) => number(good, ['0', '1,2']);
const choice = (words: readonly string[]) => single(words, [...noWords, '1', words.join(',')]);

const flags = { '1': true, TRUE: true, yes: true, '0': false, Off: false };
const flag: Kind = (name) => ({
  good: fc.constantFrom(...Object.entries(flags)).map(([word, value]) => ({ name, text: `${name}=${word}`, value })),
  bad: single(['1'], ['2', '-1', 't', 'maybe', '%201', '01', 'null', ...noWords])(name).bad,
});

const spellings: ((name: string, values: readonly unknown[]) => string)[] = [
  (name, values) => `${name}=${values.join(',')}`,
  (name, values) => `${name}=${values.join('%2C%20')},`,
  (name, values) => values.map((value) => `${name}[]=${String(value)}`).join('&'),
  (name, values) => values.map((value, n) => `${name}%5B${n}%5D=${String(value)}`).join('&'),
];
const list =
  (values: readonly unknown[], bad: string[]): Kind =>
  (name) => ({
    good: fc
      .tuple(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 4 }), fc.constantFrom(...spellings))
      .map(([value, spell]) => ({ name, text: spell(name, value), value })),
    bad: bad.flatMap((one, n) => [`${name}=${one}`, spellings[n % 4]!(name, [values[0], one])]),
  });
const ids = (good: readonly number[]) => list(good, ['0', ...noNumbers, ...noWords]);

const zones = { Z: 0, '+01:00': 60, '+05:30': 330, '-01:30': -90 };
const noMoments = ['2026-13-01', '0000-01-01', '10000-01-01', '2026-01-01T25:00:00Z', '2026-01-01T00:00:00%2B15:00']
  .concat(['infinity', 'yesterday', '20260101', '2026-1-1', '1767225600'])
  .concat(noWords);
/** The creation time of one of the school's rows, exactly or a second off. */
const moment: Kind = (name) => ({
  good: fc
    .tuple(
      fc.oneof(fc.nat(20), fc.nat(40)),
      fc.constantFrom(0, 0, -1, 1),
      fc.constantFrom(...Object.entries(zones)),
      fc.constantFrom('T', ' '),
    )
    .map(([row, seconds, [zone, minutes], separator]) => {
      const value = timestampsFor(row).created_at + seconds * 1_000;
      const local = new Date(value + minutes * 60_000).toISOString();
      return { ...query(name, `${local.slice(0, 10)}${separator}${local.slice(11, 19)}${zone}`), value };
    }),
  bad: single(['2026-01-01'], ['now', ...noMoments])(name).bad,
});
const starts = ['now', '2031-03-01', '2020-04-12 09:00:00', '2031-02-11T09:00:00+09:00', '2031-01-10T09:00Z'];
const momentOrNow = single([...starts, '2020-01-10'], noMoments);

const tooLong = 'x'.repeat(256);
const keyword = (good: string[]) => single(good, [...unstorable, tooLong]);

const ranges = (kind: Kind, ...names: string[]) =>
  Object.fromEntries(names.flatMap((name) => [`${name}_min`, `${name}_max`]).map((name) => [name, kind]));
const unknown = 999_999_999;

/** Parameters of the lists by their names in the OpenAPI document, with a school's ids. */
export function parametersFor({ ids: own }: Pick<VariedData, 'ids'>): Record<string, Parameter> {
  const filters: Record<string, Kind> = {
    since_id: number([0, ...own.courses, ...own.dates, ...own.users, 2 ** 53 - 1]),
    ...ranges(moment, 'created_at', 'updated_at', 'exported_at', 'paid_at'),
    ...ranges(momentOrNow, 'start_date_at', 'end_date_at'),
    course_id: id([...own.courses, unknown]),
    'course_id[]': ids([...own.courses, unknown]),
    coursedate_id: id([...own.dates, unknown]),
    customer_id: id([...own.customers, unknown]),
    user_id: id([...own.users, unknown]),
    'tag_ids[]': ids(own.tags),
    status_id: number([1, 2, 3, 4], ['0', '5', '1,2']),
    'status_id[]': list([1, 4, 7], ['0', '5', '1,9']),
    'seats_status[]': list(['open', 'waiting_list', 'fully_booked'], ['full', 'open,full', 'OPEN']),
    ...Object.fromEntries(
      ['location_id', 'instructor_id', 'order_id', 'booking_id', 'campaign_id', 'participant_id'].map((name) => [
        name,
        id([1, 2, unknown]),
      ]),
    ),
    has_participants: flag,
    email: keyword(['person1@PEOPLE.example', ' Person3@people.example ', 'person', 'nobody@x.example']),
    recipient: keyword(['person1@PEOPLE.example', ' Person3@people.example ', 'hall@x.example', 'nobody@x.example']),
    code: keyword(['gift 1', 'GIFT 6', 'Gift 7', 'gift']),
    firstname: keyword(['ÅS', 'åse', 'K', '%', 'x']),
    lastname: keyword(['n', 'NORD', 'nilsen 50%', 'nilsen 5_', '_']),
  };
  const settings: Record<string, Kind> = {
    ...{ include_deleted: flag, include_partners: flag, exported: flag, user_data: flag },
    partner_id: id([own.provider, own.partner]),
    description_language: choice(['en', 'no', 'sv-SE']),
    tag_match: choice(['any', 'all']),
    order_direction: choice(['asc', 'desc']),
    // Those as CSV have a test of their own.
    format: single(['json'], [...noWords, 'xlsx', 'JSON']),
    delimiter: choice(['comma', 'semicolon']),
    spreadsheet: flag,
    username: keyword(['user', 'USER-', 'user-3']),
    'course_ids[]': ids(own.courses),
  };
  const paging: Record<string, Kind> = {
    limit: number([1, 2, 3, 5, 8, 250, 251, 10_000], ['0']),
    page: number([1, 1, 2, 3, 4, 2_147_483_647], ['0', '2147483648']),
    paginate: flag,
  };
  const named = (role: Parameter['role'], kinds: Record<string, Kind>) =>
    Object.entries(kinds).map(([name, kind]) => [name, { role, ...kind(name.replace('[]', '')) }] as const);
  return Object.fromEntries([...named('filter', filters), ...named('setting', settings), ...named('paging', paging)]);
}

/** A parameter as the OpenAPI document describes it. */
type Documented = {
  name: string;
  schema: { type?: string; enum?: (string | number)[]; minimum?: number };
  example?: unknown;
};

/**
 * The values of a documented parameter: those of its type, or its examples, which stand beside the filter. A number and
 * a text need none: the reference sends the examples of a list with its first request.
 */
export function sampleValues({ name, schema, example }: Documented): (string | number)[] {
  const { type, minimum = 0 } = schema;
  const fallback = type === 'integer' ? [minimum, minimum + 1] : type === 'string' ? ['an', 'K-17'] : [];
  const values =
    type === 'boolean' ? ['true', 'false'] : (schema.enum ?? ([example ?? fallback].flat() as (string | number)[]));
  if (values.length === 0) throw new Error(`${name} has neither values here nor an example in the document`);
  return values;
}

/** A filter or an order that has no values of its own here. */
export function documentedParameter(documented: Documented): Parameter {
  const { name, schema } = documented;
  const values = sampleValues(documented);
  const isNumber = schema.type === 'integer';
  const ofText = schema.enum ? choice(values as string[]) : keyword(values as string[]);
  const kind = schema.type === 'boolean' ? flag : isNumber ? number(values as number[]) : ofText;
  return { role: name === 'order_by' ? 'setting' : 'filter', ...kind(name) };
}

/** `include[]` with these names. */
export const includeParameter = (paths: string[]): Parameter => ({
  role: 'include',
  ...list(paths, ['x', `${paths[0]!}.x`, paths[0]!.toUpperCase(), ...noWords])('include'),
});
