import { Type, type TSchema } from '@sinclair/typebox';
import { invalid } from '../../core/schema/coercion.ts';
import { emptyValue, findCoercion, findProperties, Nullable, type CoercionKind } from '../../core/schema/types.ts';

const timePattern = '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$';
const momentPattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?([Zz]| ?[+\\- ]\\d{2}(:?\\d{2})?)?)?$';

/** Formats that coercion enforces, for the document only. */
const coercedFormats: Partial<Record<CoercionKind, object>> = {
  day: { format: 'date' },
  'time-of-day': { pattern: timePattern },
  'local-time': { pattern: `^\\d{4}-\\d{2}-\\d{2}([T ]${timePattern.slice(1, -1)})?$` },
  'date-time': { pattern: momentPattern },
  'stored-date-time': { pattern: momentPattern },
  'now-or-date-time': { pattern: `${momentPattern}|^now$` },
};

/** Names and limits of headers whose routes validate them. */
const headerDocuments: Record<string, { name: string; limits: object }> = {
  'idempotency-key': { name: 'Idempotency-Key', limits: { minLength: 1, maxLength: 255 } },
};

/** The schema of request headers with their usual names and their limits. */
export function documentHeaders(schema: TSchema): TSchema {
  const fields = Object.entries(findProperties(schema)).map(([key, field]) => {
    const { name, limits } = headerDocuments[key] ?? { name: key, limits: {} };
    return [name, { ...field, ...limits }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** The schema of a query or body before coercion, with every accepted spelling. */
export function documentInput(schema: TSchema): TSchema {
  const { properties, required = [] } = schema as { properties?: Record<string, TSchema>; required?: string[] };
  if (!properties) return schema;
  const fields = Object.entries(properties).map(([name, property]) => {
    const inputField = beforeCoercion(property);
    // An empty required text counts as missing.
    const isText = required.includes(name) && inputField['type'] === 'string' && !('enum' in inputField);
    return [name, isText ? { minLength: 1, ...inputField } : inputField] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** `documentInput` of a body: null counts as empty, which fields that are not required may be. */
export function documentBody(schema: TSchema): TSchema {
  const document = documentInput(schema);
  const { properties, required = [] } = document as { properties?: Record<string, TSchema>; required?: string[] };
  if (!properties) return document;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    required.includes(name) ? field : acceptNull(field),
  ]);
  return { ...document, properties: Object.fromEntries(fields) as object };
}

function acceptNull(field: TSchema): TSchema {
  if (field[emptyValue as never] === invalid) return field;
  const alternatives = field['anyOf'] as TSchema[] | undefined;
  const types = (alternatives ?? [field]).flatMap(({ type }) => type as string | string[]);
  if (types.includes('null')) return field;
  return alternatives ? { ...field, anyOf: [...alternatives, { type: 'null' }] } : Nullable(field);
}

function beforeCoercion(field: TSchema): TSchema {
  const kind = findCoercion(field);
  if (kind === 'list') return listOrOne(field, 'Items separated by commas');
  if (kind === 'json' && field['items']) return listOrOne(field, 'The list as JSON');
  if (kind === 'upper') return inAnyCase(field);
  return kind ? { ...documentBody(field), ...coercedFormats[kind] } : documentBody(field);
}

/** A list, a single item, or a text that encodes either. */
function listOrOne({ description, examples, ...list }: TSchema, textDescription: string): TSchema {
  const item = documentBody(list['items'] as TSchema);
  const single = (item['anyOf'] as TSchema[] | undefined) ?? [item];
  const isNullable = Array.isArray(list['type']) && list['type'].includes('null');
  return Type.Unsafe({
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples: examples as unknown }),
    anyOf: [
      { ...list, type: 'array', items: item },
      ...single.filter(({ type }) => type !== 'string'),
      { type: 'string', description: textDescription },
      ...(isNullable ? [{ type: 'null' }] : []),
    ],
  });
}

/** Accepts the codes, and by a pattern their mixed-case spellings. */
function inAnyCase({ description, default: defaultValue, ...codes }: TSchema): TSchema {
  const { length } = (codes['enum'] as [string])[0];
  const anyCase = { type: 'string', pattern: `^[A-Za-z]{${length}}$`, description: 'A code of the list in any case' };
  return Type.Unsafe({
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue as unknown }),
    anyOf: [codes, anyCase],
  });
}
