import type { TObject, TSchema } from '@sinclair/typebox';
import type { FastifySchema } from 'fastify';
import { getItems, parsed } from '../../schema/coercion.ts';

type Parts = FastifySchema & { tags?: readonly string[]; body?: TObject; response?: Record<string, TSchema> };
type Fields = Record<string, unknown>;
type Branches = TSchema & { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] };

/**
 * The names that bodies may hold: their own fields, and those of the answers under the same tag, which a client that
 * sends back an item sends as well. Any other name is likely a typing error.
 */
export function createKnownFields() {
  const answered = new Map<string, Answered>();
  const getTag = ({ tags }: Parts) => tags?.[0] ?? '';

  function add(schema: FastifySchema = {}) {
    const { response = {}, ...parts } = schema as Parts;
    const known = answered.get(getTag(parts)) ?? { fields: new Set(), members: new Set() };
    answered.set(getTag(parts), known);
    for (const [status, answer] of Object.entries(response)) {
      if (!/^2/.test(status)) continue;
      for (const name of getNames(answer)) known.fields.add(name);
      addMembers(answer, known.members);
    }
  }

  /** Finds the names in a body that are neither, those of members with their path: `gatherings[2].them`. */
  function finder(schema: FastifySchema = {}) {
    const parts = schema as Parts;
    return (body: Fields) => {
      const { fields, members } = answered.get(getTag(parts))!;
      return unknownIn(parts.body!, body, '', (name, path) => (path === '' ? fields : members).has(name));
    };
  }
  return { add, finder };
}

type Answered = { fields: Set<string>; members: Set<string> };

/** The members of an answer, or of the items of one that is a list or a page. */
function getNames(answer: TSchema): string[] {
  const { properties = {}, items } = answer as { properties?: Record<string, TSchema>; items?: TSchema };
  const page = properties['items']?.['items'] as TSchema | undefined;
  return [...Object.keys(properties), ...[items, page].flatMap((item) => (item ? getNames(item) : []))];
}

/** Adds the members of an answer at any depth. */
function addMembers({ properties = {}, items, anyOf = [] }: Branches, names: Set<string>) {
  for (const name of Object.keys(properties)) names.add(name);
  for (const part of [...Object.values(properties), ...anyOf, ...(items ? [items] : [])]) addMembers(part, names);
}

type IsKnown = (name: string, path: string) => boolean;

function* unknownIn(schema: Branches, value: unknown, path: string, isKnown: IsKnown): Generator<string> {
  const { properties, items, anyOf } = schema;
  const object = properties ? schema : anyOf?.find((branch) => branch['properties']);
  if (!items && !object) return;
  const sent = parsed(schema, value);
  if (items) {
    for (const [n, item] of getItems(sent).entries()) yield* unknownIn(items, item, `${path}[${n}]`, isKnown);
  } else if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) {
    const known = object!['properties'] as Record<string, TSchema>;
    for (const [name, member] of Object.entries(sent)) {
      const full = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(known, name)) yield* unknownIn(known[name]!, member, full, isKnown);
      else if (!object!['additionalProperties'] && !isKnown(name, path)) yield full;
    }
  }
}
