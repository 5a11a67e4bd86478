import type { TSchema } from '@sinclair/typebox';
import { Read, type Reading } from '../schema/types.ts';
import { addressPattern } from '../lib/text.ts';
import { Amount, LocalTime, Percentage, TimeOfDay } from './record-types/value-formats.ts';

/** Rules between fields: the expected form of a field whose own format is right. */
const rules: Record<string, string> = {
  attendance: 'gatherings of the same course date',
  balance: 'at most amount',
  deadline_at: 'no later than end_at',
  discount_value: 'at most 100 where discount_type is Percent',
  end_at: 'no earlier than start_at, with start_time_at and end_time_at',
  end_time_at: 'later than the start in the time zone of the course date',
  ends_at: 'later than starts_at',
  gathering_end_at: 'later than gathering_at, and a real time',
  gathering_at: 'a real time such as 2026-12-31 09:00',
  lines: 'each product once',
  order_lines: 'lines of the order of the booking',
  parent_id: 'a course date of the same course without a parent_id',
  products: 'just one product with is_main_product true',
  status_updated_at: 'not in the future',
  timezone: 'an IANA time zone such as Europe/Oslo',
  username: 'a username, or an email in its place',
};

const readings: Partial<Record<Reading, string>> = {
  day: 'a day such as 2026-12-31',
  'time-of-day': 'a time of day such as 09:00',
  'local-time': 'a day and time such as 2026-12-31 09:00',
  'date-time': 'a date and time such as 2026-12-31T09:00:00+01:00',
  'stored-date-time': 'a date and time such as 2026-12-31T09:00:00+01:00',
};

const patterns: Record<string, string> = {
  [addressPattern]: 'an e-mail address',
  [TimeOfDay.pattern!]: readings['time-of-day']!,
  [LocalTime.pattern!]: readings['local-time']!,
  [Amount.pattern!]: 'an amount such as 100.50',
  [Percentage.pattern!]: 'a percentage such as 25.00, at most 100',
};

/** `level: a whole number from 0 to 4`, for each field that can be described; undefined when none can. */
export function expectedOf(schema: TSchema, names: string[], { byRules = false } = {}): string | undefined {
  const forms = names.flatMap((name) => {
    const field = name.replaceAll(/\[\d+\]/g, '');
    const form = (byRules ? rules[field] : undefined) ?? formOf(propertyOf(schema, field.split('.')));
    return form === undefined ? [] : [`${name}: ${form}`];
  });
  return forms.length > 0 ? forms.join('; ') : undefined;
}

export const ruleOf = (field: string) => (rules[field] === undefined ? undefined : `${field}: ${rules[field]}`);

/** A field by its path, or by its name alone in some list of the line. */
function propertyOf(schema: TSchema, [name = '', ...path]: string[]): TSchema | undefined {
  const properties = (schema['properties'] ?? {}) as Record<string, TSchema>;
  const found = properties[name];
  if (found) return path.length === 0 ? found : propertyOf(itemOf(found), path);
  return Object.values(properties)
    .map((property) => (['array', 'object'].includes(String(property['type'])) ? itemOf(property) : undefined))
    .flatMap((item) => (item?.['properties'] ? (propertyOf(item, [name, ...path]) ?? []) : []))[0];
}

const itemOf = (schema: TSchema): TSchema => (schema['items'] ?? schema['additionalProperties'] ?? schema) as TSchema;

function formOf(schema: TSchema | undefined): string | undefined {
  if (schema === undefined) return undefined;
  const { enum: values, items, pattern, format, maxLength, minLength = 0, minimum, maximum } = schema;
  const type = [schema['type']].flat().find((one) => one !== 'null') as string | undefined;
  if (Array.isArray(values)) return oneOf(values.filter((value) => value !== null));
  const read = readings[(schema as { [Read]?: Reading })[Read] ?? 'line'];
  if (read) return read;
  if (format === 'date') return readings.day;
  if (typeof pattern === 'string')
    return (
      patterns[pattern] ?? (/tT\]\[pP/.test(pattern) ? 'an http or https address' : `text that matches ${pattern}`)
    );
  if (type === 'string')
    return `text${maxLength === undefined ? '' : ` of ${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength} characters`}`;
  if (type === 'integer' || type === 'number')
    return `a ${type === 'integer' ? 'whole ' : ''}number${rangeOf(minimum as number | undefined, maximum as number | undefined)}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'array') return listOf(schema, formOf(items as TSchema | undefined));
  if (type === 'object') return 'an object';
  return undefined;
}

const oneOf = (values: unknown[]) =>
  values.length > 20 ? `a code such as ${values.slice(0, 3).join(', ')}` : `one of ${values.join(', ')}`;

function rangeOf(minimum: number | undefined, maximum: number | undefined) {
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (minimum === undefined) return most === undefined ? '' : ` of at most ${most}`;
  return most === undefined ? ` from ${minimum}` : ` from ${minimum} to ${most}`;
}

const listOf = ({ maxItems }: TSchema, item: string | undefined) =>
  `a list${maxItems === undefined ? '' : ` of at most ${String(maxItems)}`}${item === undefined ? '' : `, each ${item}`}`;
