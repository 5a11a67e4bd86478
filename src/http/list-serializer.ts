import { setImmediate } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import writerOf, { type AnySchema } from 'fast-json-stringify';
import { responseBudget, embeddedIn, itemTooLarge, ResponseTooLarge } from '../lists/response-budget.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Serializes the answer to a publishable key. */
    publicSerializer?: Write;
  }
}

type Schema = { items?: Schema; properties?: Record<string, Schema>; required?: string[] };
export type Write = (data: unknown) => string;

/** Serializes a list with pauses for the event loop, up to the response budget. */
export type ListSerializer = {
  /** The bytes of the first items that fit, and their number. */
  items(items: unknown[]): Promise<{ written: Buffer[]; count: number }>;
  /** The response with these serialized items. */
  around(data: unknown, written: Buffer[]): Buffer;
};

/** List serializers by the serializer function that Fastify holds. */
const listWriters = new WeakMap<object, ListSerializer>();
export const getListSerializer = (serializer: unknown) => listWriters.get(serializer as object);

/** The serializer of the status; for a success to a publishable key, that of public members. */
export function getSerializerOf(reply: FastifyReply) {
  return getPublicSerializer(reply) ?? reply.getSerializationFunction(String(reply.statusCode));
}

function getPublicSerializer({ request, statusCode }: FastifyReply) {
  if (!isPublishable(request) || statusCode >= 400) return undefined;
  const { publicSerializer } = request.routeOptions.config;
  if (!publicSerializer) throw new Error('a route without public members responded to a publishable key');
  return publicSerializer;
}
const isPublishable = ({ ctx }: Partial<FastifyRequest>) => ctx?.publishableFor !== undefined;

/** A preSerialization hook: a response to a publishable key has the public members alone. */
export function usePublicSerializer(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
) {
  const publicSerializer = getPublicSerializer(reply);
  if (publicSerializer) reply.serializer(publicSerializer);
  done(null, payload);
}

/** Compiled on first use: most serializers are never needed by a process, and their code takes memory. */
const serializers = new WeakMap<object, Write>();
function getSerializer(schema: object): Write {
  return (data) => {
    let write = serializers.get(schema);
    if (!write) serializers.set(schema, (write = writerOf(schema as AnySchema) as Write));
    return write(data);
  };
}

/** Compiles the serializer of a response schema. The response to a write has no bound: the write is committed. */
export function compileSerializer(schema: object, { isRead = true } = {}): Write {
  const { items: listed, properties, required = [] } = schema as Schema;
  const { items: enveloped, ...members } = properties ?? {};
  const isEnvelope = required.includes('items') && required.length > 1;
  const item = listed ?? (isEnvelope ? enveloped?.items : undefined);
  const serialize = getSerializer(schema);
  const write: Write = (data) => {
    const text = isRead && embeddedIn(data) > responseBudget.embedded ? undefined : serialize(data);
    if (text !== undefined && (!isRead || getBytes(text) <= responseBudget.bytes)) return text;
    throw Array.isArray(data) ? new ResponseTooLarge() : itemTooLarge();
  };
  if (!item) return write;

  const others = required.filter((name) => name !== 'items');
  const serializeItem = getSerializer(item);
  const writeMembers = getSerializer({ type: 'object', properties: members, required: others });
  listWriters.set(write, {
    items: (items) => writeItems(items, serializeItem),
    around(data, written) {
      const [before, after] = Array.isArray(data) ? ['[', ']'] : [`${writeMembers(data).slice(0, -1)},"items":[`, ']}'];
      return Buffer.concat([Buffer.from(before), ...written, Buffer.from(after)]);
    },
  });
  return write;
}

/** A shorter text holds too few embedded items, and too few characters of several bytes, to count them. */
const countedFrom = 4_096;

const getBytes = (text: string) => (text.length < countedFrom ? text.length : Buffer.byteLength(text));

/** Characters encoded at once: V8 keeps longer texts in the large object space, which it collects late. */
const sliceSize = 32_768;

/** The event loop is free after so many milliseconds. */
const pauseAfterMs = 25;

/** Shared by all lists, which use it between two pauses: V8 would free a buffer of each late. */
const shared = Buffer.allocUnsafeSlow(1_048_576);

async function writeItems(items: unknown[], serialize: Write) {
  const left = { ...responseBudget };
  const written: Buffer[] = [];
  let [count, length, text, since] = [0, 0, '', performance.now()];
  const flush = () => {
    if (length > 0) written.push(Buffer.from(shared.subarray(0, length)));
    length = 0;
  };
  const encode = () => {
    // A character of JavaScript takes three bytes at most.
    if (3 * text.length > shared.length - length) flush();
    if (3 * text.length > shared.length) written.push(Buffer.from(text));
    else length += shared.write(text, length);
    text = '';
  };
  for (const one of items) {
    const item = serialize(one);
    left.bytes -= getBytes(item);
    left.embedded -= item.length < countedFrom ? 0 : embeddedIn(one);
    if (left.bytes < 0 || left.embedded < 0) break;
    text += count === 0 ? item : `,${item}`;
    count += 1;
    if (text.length >= sliceSize) encode();
    if (performance.now() - since > pauseAfterMs) {
      encode();
      flush();
      await setImmediate();
      since = performance.now();
    }
  }
  encode();
  flush();
  return { written, count };
}
