import { setImmediate } from 'node:timers/promises';
import writerOf, { type AnySchema } from 'fast-json-stringify';
import { answerBudget, embeddedIn, itemTooLarge } from '../lists/budget.ts';

type Schema = { items?: Schema; properties?: Record<string, Schema>; required?: string[] };
type Write = (data: unknown) => string;

/** So many characters are encoded at once: V8 keeps longer texts apart, and collects them late. */
const pieceSize = 32_768;

/** Writes a list with the event loop free in between, as far as the answer's budget reaches. */
export type ListWriter = {
  /** The bytes of each item that fits, and whether there are more items. */
  items(items: unknown[]): Promise<{ written: Buffer[]; count: number }>;
  /** The whole answer around so many of its items. */
  around(data: unknown, written: Buffer[]): Buffer;
};

/** The writers of lists by what Fastify takes as their serializer. */
const listWriters = new WeakMap<object, ListWriter>();
export const listWriterOf = (serializer: unknown) => listWriters.get(serializer as object);

/** Writes what a response schema describes; a list also in pieces. */
export function writing(schema: object): Write {
  const { items: listed, properties, required = [] } = schema as Schema;
  const { items: enveloped, ...members } = properties ?? {};
  const isEnvelope = required.includes('items') && required.length > 1;
  const item = listed ?? (isEnvelope ? enveloped?.items : undefined);
  const write = writerWhenNeeded(schema);
  const bounded: Write = (data) => {
    if (embeddedIn(data) > answerBudget.embedded) throw itemTooLarge();
    const text = write(data);
    if (text.length > answerBudget.bytes) throw itemTooLarge();
    return text;
  };
  if (!item) return bounded;

  const writeItem = writerWhenNeeded(item);
  const others = required.filter((name) => name !== 'items');
  const writeMembers = writerWhenNeeded({ type: 'object', properties: members, required: others });
  listWriters.set(bounded, {
    items: (items) => writeItems(items, writeItem),
    around(data, written) {
      const [before, after] = Array.isArray(data) ? ['[', ']'] : [`${writeMembers(data).slice(0, -1)},"items":[`, ']}'];
      return Buffer.concat([Buffer.from(before), ...written, Buffer.from(after)]);
    },
  });
  return bounded;
}

/** A good part of what is held in memory would be what this process may never need. */
function writerWhenNeeded(schema: object): Write {
  let write: Write | undefined;
  return (data) => (write ??= writerOf(schema as AnySchema) as Write)(data);
}

/** Lists take turns of it between two pauses, so all share this; what V8 frees late is then what is sent and little more. */
const shared = Buffer.allocUnsafeSlow(1_048_576);

/** So long a list is written before others have their turn. */
const pauseAfterMs = 25;
/** A text shorter than this holds too few embedded items to count them. */
const countedFrom = 4_096;

async function writeItems(items: unknown[], write: Write) {
  const full: Buffer[] = [];
  let [length, text, count, bytes, embedded] = [0, '', 0, 0, 0];
  const takeOut = () => {
    if (length > 0) full.push(Buffer.from(shared.subarray(0, length)));
    length = 0;
  };
  const encode = () => {
    // A character of JavaScript takes three bytes at most.
    if (3 * text.length > shared.length - length) takeOut();
    if (3 * text.length > shared.length) full.push(Buffer.from(text));
    else length += shared.write(text, length);
    text = '';
  };
  let since = performance.now();
  for (const one of items) {
    const piece = write(one);
    bytes += piece.length < countedFrom ? piece.length : Buffer.byteLength(piece);
    embedded += piece.length < countedFrom ? 0 : embeddedIn(one);
    if (bytes > answerBudget.bytes || embedded > answerBudget.embedded) break;
    text += count === 0 ? piece : `,${piece}`;
    count += 1;
    if (text.length >= pieceSize) encode();
    if (performance.now() - since > pauseAfterMs) {
      encode();
      takeOut();
      await setImmediate();
      since = performance.now();
    }
  }
  encode();
  takeOut();
  return { written: full, count };
}
