import { setImmediate as nextTurn } from 'node:timers/promises';
import createWriter, { type AnySchema } from 'fast-json-stringify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { itemTooLarge, responseBudget, ResponseTooLarge } from '../lists/response-budget.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Serializes the answer to a publishable key. */
    publicSerializer?: Write;
  }
}

export type Write = (data: unknown) => string;
type Bound = typeof responseBudget;
type Schema = {
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
};

/** Serializes in pieces, with pauses for the event loop; found by the serializer function of Fastify. */
const pausing = new WeakMap<object, ReturnType<typeof newPausingSerializer>>();
export const getPausingSerializer = (serializer: unknown) => pausing.get(serializer as object);

/** The serializer of the status; for a success to a publishable key, that of public members. */
export function getReplySerializer(reply: FastifyReply) {
  return getPublicSerializer(reply) ?? reply.getSerializationFunction(String(reply.statusCode));
}

function getPublicSerializer({ request, statusCode }: FastifyReply) {
  if (!isPublishable(request) || statusCode >= 400) return undefined;
  const { publicSerializer } = request.routeOptions.config;
  if (!publicSerializer) throw new Error('a route without public members responded to a publishable key');
  return publicSerializer;
}
const isPublishable = ({ ctx }: Partial<FastifyRequest>) => ctx?.publishableFor !== undefined;

/** A preSerialization hook: serializes an item with many embedded ones with pauses for the event loop. */
export function serializeLargeItems(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
) {
  const publicSerializer = getPublicSerializer(reply);
  const serializer = getPausingSerializer(getReplySerializer(reply) ?? {});
  if (!serializer?.isLarge(payload)) {
    if (publicSerializer) reply.serializer(publicSerializer);
    done(null, payload);
    return;
  }
  serializer.whole(payload).then((bytes) => {
    reply.serializer((written) => written as string);
    done(null, bytes);
  }, done);
}

/** Compiles the serializer of a response schema. The response to a write has no bound: the write is committed. */
export function compileSerializer(responseSchema: object, { isRead = true } = {}): Write {
  const schema: Schema = responseSchema;
  const bound = isRead ? responseBudget : { embedded: Infinity, bytes: Infinity };
  const serialize = getSerializer(schema);
  const write: Write = (data) => {
    if (countItems(schema, data) > bound.embedded) throw tooLarge(data);
    const text = serialize(data);
    if (text.length > bound.bytes) throw tooLarge(data);
    return text;
  };
  pausing.set(write, newPausingSerializer(schema, bound));
  return write;
}
const tooLarge = (data: unknown) => (Array.isArray(data) ? new ResponseTooLarge() : itemTooLarge());

const newPausingSerializer = (schema: Schema, bound: Bound) => ({
  /** True if the value has so many list items that it is serialized in pieces. */
  isLarge: (data: unknown) => countItems(schema, data) > maxItemsAtOnce,
  async whole(data: unknown) {
    const { written, count } = await writeItems([data], schema, bound);
    if (count === 0) throw tooLarge(data);
    return Buffer.concat(written);
  },
  /** The bytes of the first items of a list that fit into a response, and their number. */
  items: (items: unknown[]) => writeItems(items, schema.items ?? schema.properties!['items']!.items!, responseBudget),
  /** The list with these serialized items. */
  around(data: object, written: Buffer[]) {
    const empty = getSerializer(schema)(Array.isArray(data) ? [] : { ...data, items: [] });
    const end = empty.lastIndexOf(']');
    return Buffer.concat([Buffer.from(empty.slice(0, end)), ...written, Buffer.from(empty.slice(end))]);
  },
});

/** Compiled on first use: most serializers are never needed by a process, and their code takes memory. */
const serializers = new WeakMap<object, Write>();
function getSerializer(schema: object): Write {
  return (data) => {
    let write = serializers.get(schema);
    if (!write) serializers.set(schema, (write = createWriter(schema as AnySchema) as Write));
    return write(data);
  };
}

/** List items of a value at any depth. */
function countItems(schema: Schema, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (!Array.isArray(value)) {
    for (const [name, member] of getListMembers(schema)) count += countItems(member, (value as Members)[name]);
  } else if (schema.items) {
    count = value.length;
    if (hasLists(schema.items)) for (const item of value as unknown[]) count += countItems(schema.items, item);
  }
  return count;
}
type Members = Record<string, unknown>;
const hasLists = (schema: Schema): boolean => schema.items !== undefined || getListMembers(schema).length > 0;

const listMembers = new WeakMap<Schema, [string, Schema][]>();
function getListMembers(schema: Schema) {
  let members = listMembers.get(schema);
  if (!members) {
    members = Object.entries(schema.properties ?? {}).filter(([, member]) => hasLists(member));
    listMembers.set(schema, members);
  }
  return members;
}

/** A value with more list items than these is serialized in pieces. */
const maxItemsAtOnce = 100;

/** The event loop is free after so many milliseconds. */
const pauseAfterMs = 25;

/** Characters encoded at once: V8 keeps longer texts in the large object space, which it collects late. */
const encodedAtOnce = 32_768;

/** Serializes as many of the first items as are within the bound, separated by commas. */
async function writeItems(items: unknown[], schema: Schema, { embedded, bytes }: Bound) {
  const serialize = getSerializer(schema);
  const written: Buffer[] = [];
  let [text, count, since] = ['', 0, performance.now()];
  const encode = () => {
    const chunk = Buffer.from(text);
    bytes -= chunk.length;
    written.push(chunk);
    text = '';
  };
  for (const item of items) {
    const before = { text, length: written.length };
    const size = countItems(schema, item);
    embedded -= size;
    if (count > 0) text += ',';
    for (const piece of size > maxItemsAtOnce ? toPieces(schema, item) : [serialize(item)]) {
      text += piece;
      // A character takes three bytes at most, so what is not yet encoded always fits.
      if (text.length >= encodedAtOnce || bytes < 3 * encodedAtOnce) encode();
      if (embedded < 0 || bytes < 0) {
        written.length = before.length;
        return { written: [...written, Buffer.from(before.text)], count };
      }
      if (performance.now() - since <= pauseAfterMs) continue;
      await nextTurn();
      since = performance.now();
    }
    count += 1;
  }
  return { written: [...written, Buffer.from(text)], count };
}

/** The text of the serializer: of a value with many list items each member and each list item by itself. */
function* toPieces(schema: Schema, value: unknown): Generator<string> {
  const parts = countItems(schema, value) > maxItemsAtOnce ? getParts(schema, value as object) : undefined;
  if (!parts) {
    yield getSerializer(schema)(value);
    return;
  }
  let before = Array.isArray(value) ? '[' : '{';
  for (const { name, member, one } of parts) {
    if (one === undefined) continue;
    yield before + name;
    yield* toPieces(member, one);
    before = ',';
  }
  yield Array.isArray(value) ? ']' : '}';
}

/** Returns the members in the order of fast-json-stringify: required ones first. */
function getParts({ items, properties = {}, required = [], additionalProperties = false }: Schema, value: object) {
  if (Array.isArray(value)) return value.map((one: unknown) => ({ name: '', member: items!, one }));
  if (additionalProperties !== false) return undefined;
  const isRequired = (name: string) => Number(required.includes(name));
  return Object.entries(properties)
    .sort(([a], [b]) => isRequired(b) - isRequired(a))
    .map(([name, member]) => ({ name: `${JSON.stringify(name)}:`, member, one: (value as Members)[name] }));
}
