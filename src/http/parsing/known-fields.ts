import type { FastifyReply } from 'fastify';
import type { TObject, TSchema } from '@sinclair/typebox';
import { getItems, parsed } from '../../core/schema/coercion.ts';

type Fields = Record<string, unknown>;
type Branches = TSchema & { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] };

/** Read-only names of items, known at any depth of the body of every write. */
export const readOnlyNames = ['id', 'created_at', 'updated_at', 'deleted_at'];

/** Longest name of a field in an answer. */
export const maxNameLength = 100;

/** A name, that of a member with its path, and the value that was sent. */
export type Unknown = [name: string, value: unknown];

/** Finds unknown names in a body, with their paths, as `gatherings[2].them`, cut behind 101 characters. */
export const findUnknownFields = (schema: TObject, body: Fields, readOnly: readonly string[]) =>
  unknownIn(schema, body, '', new Set(readOnly));

function* unknownIn(schema: Branches, value: unknown, path: string, readOnly: Set<string>): Generator<Unknown> {
  const { properties, items, anyOf } = schema;
  const object = properties ? schema : anyOf?.find((branch) => branch['properties']);
  // The values of a dictionary, such as the texts of each language.
  const values = schema['additionalProperties'] as Branches | boolean | undefined;
  const dictionary = typeof values === 'object' ? values : undefined;
  if (!items && !object && !dictionary) return;
  const input = parsed(schema, value);
  if (items) {
    for (const [n, item] of getItems(input).entries()) yield* unknownIn(items, item, `${path}[${n}]`, readOnly);
  } else if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
    const known = (object?.['properties'] ?? {}) as Record<string, TSchema>;
    for (const [name, member] of Object.entries(input)) {
      // Thousands of members may share a long path.
      const full = (path === '' ? name : `${path}.${name}`).slice(0, maxNameLength + 1);
      const memberSchema = Object.hasOwn(known, name) ? known[name] : dictionary;
      if (memberSchema) yield* unknownIn(memberSchema, member, full, readOnly);
      else if (!readOnly.has(name)) yield [full, member];
    }
  }
}

/** Names ignored parameters and fields in the response, after those that it names already. */
export function nameIgnored(reply: FastifyReply, names: string[]) {
  const before = reply.getHeader('x-ignored-parameters') ?? [];
  if (names.length > 0) reply.header('x-ignored-parameters', [before, names].flat().join(', '));
}

/** The fields that an existing item has not taken. */
export const findKept = <N extends string>(
  sent: { [K in N]?: unknown },
  item: Record<N, unknown>,
  names: readonly N[],
) => names.filter((name) => sent[name] && sent[name] !== item[name]);
