import fc from 'fast-check';
import type { FieldSchema } from './sample-values.ts';
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

/** A parameter as the OpenAPI document without references describes it. */
type Documented = {
  name: string;
  schema: FieldSchema;
  example?: unknown;
};
type Value = string | number;

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

const unknown = 999_999_999;

/** Rows of a school, and texts that its rows have; a list of ids has a name without brackets. */
const valuesOf = ({ courses, dates, users, customers, tags, provider, partner }: VariedData['ids']) =>
  ({
    since_id: [0, ...courses, ...dates, ...users, 2 ** 53 - 1],
    ...{ course_id: [...courses, unknown], coursedate_id: [...dates, unknown] },
    ...{ customer_id: [...customers, unknown], user_id: [...users, unknown] },
    ...{ tag_ids: tags, course_ids: courses, partner_id: [provider, partner] },
    email: ['person1@PEOPLE.example', ' Person3@people.example ', 'person', 'nobody@x.example'],
    recipient: ['person1@PEOPLE.example', ' Person3@people.example ', 'hall@x.example', 'nobody@x.example'],
    code: ['gift 1', 'GIFT 6', 'Gift 7', 'gift'],
    firstname: ['ÅS', 'åse', 'K', '%', 'x'],
    lastname: ['n', 'NORD', 'nilsen 50%', 'nilsen 5_', '_'],
    username: ['user', 'USER-', 'user-3'],
    // Those as CSV have a test of their own.
    format: ['json'],
    limit: [1, 2, 3, 5, 8, 250, 251, 10_000],
    page: [1, 1, 2, 3, 4, 2_147_483_647],
  }) as Record<string, Value[] | undefined>;

const settings = [
  'include_deleted',
  'include_partners',
  'exported',
  'user_data',
  'partner_id',
  'description_language',
].concat(['tag_match', 'order_by', 'order_direction', 'format', 'delimiter', 'spreadsheet', 'username', 'course_ids']);
const paging = ['limit', 'page', 'paginate'];
const roleOf = (name: string): Parameter['role'] => {
  if (name === 'include') return name;
  return settings.includes(name) ? 'setting' : paging.includes(name) ? 'paging' : 'filter';
};

/** The array of a parameter that may also be sent as a text with commas. */
const itemsOf = ({ anyOf = [] }: FieldSchema) => anyOf.find(({ items }) => items)?.items;

/** The first numbers that are none of a choice. */
const noChoices = (values: number[]) =>
  Array.from({ length: Math.max(...values) + 2 }, (_, n) => n)
    .filter((n) => !values.includes(n))
    .map(String);

/**
 * The values of a documented parameter: those of its type, without the default of a flag, or its examples, which stand
 * beside the filter. A number and a text need none: the reference sends the examples of a list with its first request.
 */
export function sampleValues({ name, schema, example }: Documented): Value[] {
  const { type, minimum = 0, enum: words } = itemsOf(schema) ?? schema;
  const choices = type === 'boolean' ? [true, false].filter((one) => one !== schema.default) : words;
  const fallback = type === 'integer' ? [minimum, minimum + 1] : type === 'string' ? ['an', 'K-17'] : [];
  const values = choices ?? [example ?? fallback].flat();
  if (values.length === 0) throw new Error(`${name} has neither values here nor an example in the document`);
  return values.map((one) => (typeof one === 'boolean' ? String(one) : one)) as Value[];
}

/** The kind that the schema says, with values of its own for what it does not say. */
function kindOf(documented: Documented, own: Value[] | undefined): Kind {
  const { schema } = documented;
  const items = itemsOf(schema);
  const { type, enum: choices, minimum = 0, maximum, pattern } = items ?? schema;
  if (type === 'boolean') return flag;
  if (pattern?.includes('now')) return momentOrNow;
  if (pattern?.includes('\\d{4}')) return moment;
  const values = own ?? (choices as Value[] | undefined);
  if (type === 'integer') {
    const numbers = values as number[] | undefined;
    const outside = choices ? noChoices(choices as number[]) : minimum > 0 ? ['0'] : [];
    if (items) return list(numbers ?? [minimum, unknown], [...outside, ...noNumbers, ...noWords]);
    const above = maximum === undefined ? [] : [String(maximum + 1)];
    return number(numbers ?? [...(sampleValues(documented) as number[]), unknown], [...outside, ...above, '1,2']);
  }
  if (!choices) return keyword((values ?? sampleValues(documented)) as string[]);
  const words = values as string[];
  return items
    ? list(words, ['x', `${words[0]!}.x`, words[0]!.toUpperCase(), ...noWords])
    : single(words, [...noWords, words[0]!.toUpperCase(), '1', choices.join(',')]);
}

/** A parameter of the OpenAPI document, with a school's ids. */
export function parameterOf({ ids }: Pick<VariedData, 'ids'>, documented: Documented): Parameter {
  const name = documented.name.replace('[]', '');
  return { role: roleOf(name), ...kindOf(documented, valuesOf(ids)[name])(name) };
}
