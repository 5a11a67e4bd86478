import type { TSchema } from '@sinclair/typebox';
import {
  AmountText,
  findCoercion,
  findProperties,
  LocalTime,
  PercentageText,
  TimeOfDay,
  type CoercionKind,
} from '../../core/schema/types.ts';
import { addressPattern } from '../../core/text.ts';
import { PasswordHash } from '../../domains/school/auth/schema.ts';
import { colorPattern } from '../../domains/school/catalog-settings/body-schema.ts';
import { CreditedAmount, SignedAmount, Slug } from './record-types/table-fields.ts';

/** Expected values of fields that are well-formed but violate a rule between fields. */
const rules: Record<string, string> = {
  attendance: 'gatherings of the same course date, each once',
  attendance_marks: 'gatherings of the same course date, with each nonce once',
  balance: 'at most amount',
  date_of_birth: 'a day such as 1990-12-31, not after today',
  deadline_at: 'no later than end_at',
  discount_value: 'at most 100 where discount_type is Percent',
  end_at: 'no earlier than start_at, with start_time_at and end_time_at',
  end_time_at: 'later than the start in the time zone of the course date',
  ends_at: 'later than starts_at',
  gathering_end_at: 'later than gathering_at in the time zone of the course date, and a real time',
  gathering_at: 'a real time such as 2026-12-31 09:00',
  first_order_id: 'an order, of a credit or a difference alone',
  is_placeholder: 'true only without other fields',
  lines: 'each product once, of a credit with negative quantities and the lines that they credit',
  order_line_id: 'a line of a credit, each once, of which order_lines has the credited line',
  order_lines: 'lines of the order of the booking or of its differences, and credits of these lines',
  parent_id: 'a course date of the same course without a parent_id',
  payments: 'each reference once, and at most what is due in all',
  products: 'just one product with is_main_product true',
  redemptions: 'each voucher once, and at most what it has spent in all (amount less balance)',
  status_updated_at: 'not in the future',
  timezone: 'an IANA time zone such as Europe/Oslo',
  trigger_value: 'a value that no other child of the parent has',
  username: 'a username, or an email in its place',
};

const coercedFormats: Partial<Record<CoercionKind, string>> = {
  day: 'a day such as 2026-12-31',
  'time-of-day': 'a time of day such as 09:00',
  'local-time': 'a day and time such as 2026-12-31 09:00',
  'date-time': 'a date and time such as 2026-12-31T09:00:00+01:00',
  'stored-date-time': 'a date and time such as 2026-12-31T09:00:00+01:00',
  'stored-end-date-time': 'a day such as 2026-12-31, or a date and time such as 2026-12-31T09:00:00+01:00',
};

const patterns: Record<string, string> = {
  [addressPattern]: 'an e-mail address',
  [TimeOfDay.pattern!]: coercedFormats['time-of-day']!,
  [LocalTime.pattern!]: coercedFormats['local-time']!,
  [AmountText.pattern!]: 'an amount such as 100.50',
  [SignedAmount.pattern!]: 'an amount such as 100.50, or of a credit -100.50',
  [CreditedAmount.pattern!]: 'an amount of at most 0 such as -100.50',
  [PercentageText.pattern!]: 'a percentage such as 25.00, at most 100',
  [Slug.pattern!]: 'lower-case letters, digits and hyphens such as first-aid',
  [colorPattern]: 'a colour such as #0b5a8a',
  [PasswordHash.pattern!]: 'an argon2id hash',
};

/** Descriptions such as `level: a whole number from 0 to 4`; undefined if no field can be described. */
export function describeExpected(schema: TSchema, names: string[], { byRules = false } = {}): string | undefined {
  const forms = names.flatMap((name) => {
    const path = name.replaceAll(/\[\d+\]/g, '').split('.');
    const form = (byRules ? rules[path.at(-1)!] : undefined) ?? describeFormat(findProperty(schema, path));
    return form === undefined ? [] : [`${name}: ${form}`];
  });
  return forms.length > 0 ? forms.join('; ') : undefined;
}

export function describeRule(path: string) {
  const rule = rules[path.split('.').at(-1)!];
  return rule === undefined ? undefined : `${path}: ${rule}`;
}

/** Finds a field by its path, or by its name in any list of the line. */
function findProperty(schema: TSchema, [name = '', ...path]: string[]): TSchema | undefined {
  const properties = findProperties(schema);
  const found = properties[name];
  if (found) return path.length === 0 ? found : findProperty(itemSchema(found), path);
  return Object.values(properties)
    .map((property) => (['array', 'object'].includes(String(property['type'])) ? itemSchema(property) : undefined))
    .flatMap((item) => (item?.['properties'] ? (findProperty(item, [name, ...path]) ?? []) : []))[0];
}

const itemSchema = (schema: TSchema): TSchema =>
  (schema['items'] ?? schema['additionalProperties'] ?? schema) as TSchema;

function describeFormat(schema: TSchema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const { enum: values, items, pattern, format, maxLength, minLength = 0, minimum, maximum } = schema;
  const type: unknown = [schema['type']].flat().find((one) => one !== 'null');
  if (Array.isArray(values)) return describeEnum(values.filter((value) => value !== null));
  const coerced = coercedFormats[findCoercion(schema) ?? 'line'];
  if (coerced) return coerced;
  if (format === 'date') return coercedFormats.day;
  if (typeof pattern === 'string')
    return (
      patterns[pattern] ?? (/tT\]\[pP/.test(pattern) ? 'an http or https address' : `text that matches ${pattern}`)
    );
  if (type === 'string')
    return `text${maxLength === undefined ? '' : ` of ${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength} characters`}`;
  if (type === 'integer' || type === 'number')
    return `a ${type === 'integer' ? 'whole ' : ''}number${describeRange(minimum as number | undefined, maximum as number | undefined)}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'array') return describeList(schema, describeFormat(items as TSchema | undefined));
  if (type === 'object') return 'an object';
  return undefined;
}

const describeEnum = (values: unknown[]) =>
  values.length > 20 ? `a code such as ${values.slice(0, 3).join(', ')}` : `one of ${values.join(', ')}`;

function describeRange(minimum: number | undefined, maximum: number | undefined) {
  const max = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum === undefined) return max === undefined ? '' : ` of at most ${max}`;
  return max === undefined ? ` from ${minimum}` : ` from ${minimum} to ${max}`;
}

const describeList = ({ maxItems }: TSchema, item: string | undefined) =>
  `a list${maxItems === undefined ? '' : ` of at most ${String(maxItems)}`}${item === undefined ? '' : `, each ${item}`}`;
