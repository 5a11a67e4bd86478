import type { TSchema } from '@sinclair/typebox';
import { Read, type Reading } from '../../schema/types.ts';

const timePattern = '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$';
const momentPattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?([Zz]| ?[+\\- ]\\d{2}(:?\\d{2})?)?)?$';

/** Forms that readers enforce and that the validator therefore need not know. */
const enforced: Partial<Record<Reading, object>> = {
  day: { format: 'date' },
  'time-of-day': { pattern: timePattern },
  'local-time': { pattern: `^\\d{4}-\\d{2}-\\d{2}([T ]${timePattern.slice(1, -1)})?$` },
  'date-time': { pattern: momentPattern },
  'stored-date-time': { pattern: momentPattern },
  'now-or-date-time': { pattern: `${momentPattern}|^now$` },
};

/** The fields of a query or a body as they are read: in any of their spellings. */
export function documentInput(schema: TSchema): TSchema {
  const { properties, required = [] } = schema as { properties?: Record<string, TSchema>; required?: string[] };
  if (!properties) return schema;
  const fields = Object.entries(properties).map(([name, property]) => {
    const field = asRead(property);
    // A required text that is empty is missing.
    const isText = required.includes(name) && field['type'] === 'string' && !('enum' in field);
    return [name, isText ? { minLength: 1, ...field } : field] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

function asRead(field: TSchema): TSchema {
  const how = (field as { [Read]?: Reading })[Read];
  if (how === 'list') return listOrOne(field, 'A text separates items by commas');
  if (how === 'json' && field['items']) return listOrOne(field, 'A text holds the list as JSON');
  if (how === 'upper') return inAnyCase(field);
  return how ? { ...field, ...enforced[how] } : field;
}

/** A list, one of its items, or a text that holds either. */
function listOrOne(list: TSchema, text: string): TSchema {
  const item = documentInput(list['items'] as TSchema);
  const branches = [item, ...((item['anyOf'] as TSchema[] | undefined) ?? [])];
  const types = [list, ...branches].flatMap(({ type }) => (type as string | string[] | undefined) ?? []);
  const description = [list['description'], text].filter(Boolean).join('. ');
  return { ...list, type: [...new Set([...types, 'string'])], items: item, description };
}

/** Beside the codes a pattern, since a list of them in both cases would be twice as long and still lack mixed ones. */
function inAnyCase({ description, default: unsent, ...codes }: TSchema): TSchema {
  const { length } = (codes['enum'] as [string])[0];
  const other = { type: 'string', pattern: `^[A-Za-z]{${length}}$`, description: 'A code of the list in any case' };
  return {
    ...(description === undefined ? {} : { description }),
    ...(unsent === undefined ? {} : { default: unsent as unknown }),
    anyOf: [codes, other],
  } as unknown as TSchema;
}
