import type { FastifyReply, FastifyRequest } from 'fastify';
import { responseBudget, embeddedIn, itemTooLarge, ResponseTooLarge } from '../lists/response-budget.ts';
import { getSerializer, isLarge, newOutput, writePieces, type Schema, type Write } from './serialize-pieces.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Serializes the answer to a publishable key. */
    publicSerializer?: Write;
  }
}

/** Serializes a list with pauses for the event loop, up to the response budget. */
type ListSerializer = {
  /** The bytes of the first items that fit, and their number. Large items are serialized in pieces. */
  items(items: unknown[], mayHoldLarge: boolean): Promise<{ written: Buffer[]; count: number }>;
  /** The response with these serialized items. */
  around(data: unknown, written: Buffer[]): Buffer;
};

/** List serializers by the serializer function that Fastify holds. */
const listWriters = new WeakMap<object, ListSerializer>();
export const getListSerializer = (serializer: unknown) => listWriters.get(serializer as object);

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

type ItemWriter = (item: unknown) => Promise<Buffer>;
const itemWriters = new WeakMap<object, ItemWriter>();

/** A preSerialization hook: serializes a large item in pieces, with pauses for the event loop. */
export function serializeLargeItems(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
) {
  const publicSerializer = getPublicSerializer(reply);
  const serialize = itemWriters.get(getReplySerializer(reply) ?? {});
  if (!serialize || !isLarge(payload)) {
    if (publicSerializer) reply.serializer(publicSerializer);
    done(null, payload);
    return;
  }
  serialize(payload).then((bytes) => {
    reply.serializer((written) => written as string);
    done(null, bytes);
  }, done);
}

/** Compiles the serializer of a response schema. The response to a write has no bound: the write is committed. */
export function compileSerializer(schema: object, { isRead = true } = {}): Write {
  const { items: listed, properties, required = [] } = schema as Schema;
  const { items: enveloped, ...members } = properties ?? {};
  const isEnvelope = required.includes('items') && required.length > 1;
  const item = listed ?? (isEnvelope ? enveloped?.items : undefined);
  const serialize = getSerializer(schema);
  const budget = isRead ? responseBudget : { embedded: Infinity, bytes: Infinity };
  const tooLarge = (data: unknown) => (Array.isArray(data) ? new ResponseTooLarge() : itemTooLarge());
  const write: Write = (data) => {
    if (embeddedIn(data) > budget.embedded) throw tooLarge(data);
    const text = serialize(data);
    if (text.length > budget.bytes) throw tooLarge(data);
    return text;
  };
  itemWriters.set(write, async (data) => {
    if (embeddedIn(data) > budget.embedded) throw tooLarge(data);
    const bytes = await writePieces(schema, data, budget.bytes);
    if (!bytes) throw tooLarge(data);
    return Buffer.concat(bytes);
  });
  if (!item) return write;

  const others = required.filter((name) => name !== 'items');
  const writeMembers = getSerializer({ type: 'object', properties: members, required: others });
  listWriters.set(write, {
    items: (items, mayHoldLarge) => writeItems(items, item, mayHoldLarge),
    around(data, written) {
      const [before, after] = Array.isArray(data) ? ['[', ']'] : [`${writeMembers(data).slice(0, -1)},"items":[`, ']}'];
      return Buffer.concat([Buffer.from(before), ...written, Buffer.from(after)]);
    },
  });
  return write;
}

/** A text shorter than this holds too few embedded items to count them. */
const countedFrom = 4_096;

async function writeItems(items: unknown[], schema: Schema, mayHoldLarge: boolean) {
  const serialize = getSerializer(schema);
  const output = newOutput();
  const left = { ...responseBudget };
  let count = 0;
  for (const one of items) {
    const comma = count === 0 ? '' : ',';
    if (mayHoldLarge && isLarge(one)) {
      // It uses the shared buffer as well.
      output.end();
      left.embedded -= embeddedIn(one);
      const bytes = left.embedded < 0 ? undefined : await writePieces(schema, one, left.bytes);
      if (!bytes) break;
      output.addBytes([Buffer.from(comma), ...bytes]);
      for (const { length } of bytes) left.bytes -= length;
    } else {
      const text = serialize(one);
      left.bytes -= text.length < countedFrom ? text.length : Buffer.byteLength(text);
      left.embedded -= text.length < countedFrom ? 0 : embeddedIn(one);
      if (left.bytes < 0 || left.embedded < 0) break;
      output.add(comma + text);
    }
    count += 1;
    if (output.isDue()) await output.pause();
  }
  return { written: output.end(), count };
}
