import type { TObject, TSchema } from '@sinclair/typebox';
import type { FastifySchema } from 'fastify';
import { getItems, parsed } from '../../schema/coercion.ts';

type Parts = FastifySchema & { tags?: readonly string[]; body?: TObject; response?: Record<string, TSchema> };
type Fields = Record<string, unknown>;
type Branches = TSchema & { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] };

/**
 * Collects the field names that a body may contain: those of its schema, and those of responses with the same tag, since
 * clients send items back. Other names are reported as ignored.
 */
export function createKnownFields() {
  const responseNames = new Map<string, ResponseNames>();
  const getTag = ({ tags }: Parts) => tags?.[0] ?? '';

  function add(schema: FastifySchema = {}) {
    const { response = {}, ...parts } = schema as Parts;
    const known = responseNames.get(getTag(parts)) ?? { fields: new Set(), members: new Set() };
    responseNames.set(getTag(parts), known);
    for (const [status, responseSchema] of Object.entries(response)) {
      if (!/^2/.test(status)) continue;
      for (const name of getNames(responseSchema)) known.fields.add(name);
      addMembers(responseSchema, known.members);
    }
  }

  /** Finds unknown names in a body, those of members with their path: `gatherings[2].them`. */
  function finder(schema: FastifySchema = {}) {
    const parts = schema as Parts;
    return (body: Fields) => {
      const { fields, members } = responseNames.get(getTag(parts))!;
      return unknownIn(parts.body!, body, '', (name, path) => (path === '' ? fields : members).has(name));
    };
  }
  return { add, finder };
}

type ResponseNames = { fields: Set<string>; members: Set<string> };

/** Properties of a response, and of its items if it is a list or a page. */
function getNames(responseSchema: TSchema): string[] {
  const { properties = {}, items } = responseSchema as { properties?: Record<string, TSchema>; items?: TSchema };
  const page = properties['items']?.['items'] as TSchema | undefined;
  return [...Object.keys(properties), ...[items, page].flatMap((item) => (item ? getNames(item) : []))];
}

/** Adds the names of a response at any depth. */
function addMembers({ properties = {}, items, anyOf = [] }: Branches, names: Set<string>) {
  for (const name of Object.keys(properties)) names.add(name);
  for (const part of [...Object.values(properties), ...anyOf, ...(items ? [items] : [])]) addMembers(part, names);
}

type IsKnown = (name: string, path: string) => boolean;

function* unknownIn(schema: Branches, value: unknown, path: string, isKnown: IsKnown): Generator<string> {
  const { properties, items, anyOf } = schema;
  const object = properties ? schema : anyOf?.find((branch) => branch['properties']);
  if (!items && !object) return;
  const input = parsed(schema, value);
  if (items) {
    for (const [n, item] of getItems(input).entries()) yield* unknownIn(items, item, `${path}[${n}]`, isKnown);
  } else if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
    const known = object!['properties'] as Record<string, TSchema>;
    for (const [name, member] of Object.entries(input)) {
      const full = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(known, name)) yield* unknownIn(known[name]!, member, full, isKnown);
      else if (!object!['additionalProperties'] && !isKnown(name, path)) yield full;
    }
  }
}
