import { setImmediate } from 'node:timers/promises';
import createWriter, { type AnySchema } from 'fast-json-stringify';

export type Schema = {
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
};
export type Write = (data: unknown) => string;

/** Characters encoded at once: V8 keeps longer texts in the large object space, which it collects late. */
const sliceSize = 32_768;

/** The event loop is free after so many milliseconds. */
const pauseAfterMs = 25;

/** Shared by all outputs, which use it between two pauses: V8 would free a buffer of each late. */
const shared = Buffer.allocUnsafeSlow(1_048_576);

/** Collects texts as bytes; the caller awaits `pause` when `isDue` is true. */
export function newOutput() {
  const full: Buffer[] = [];
  let [length, text, since] = [0, '', performance.now()];
  const flush = () => {
    if (length > 0) full.push(Buffer.from(shared.subarray(0, length)));
    length = 0;
  };
  const encode = () => {
    // A character of JavaScript takes three bytes at most.
    if (3 * text.length > shared.length - length) flush();
    if (3 * text.length > shared.length) full.push(Buffer.from(text));
    else length += shared.write(text, length);
    text = '';
  };
  const end = () => {
    encode();
    flush();
    return full;
  };
  return {
    addBytes: (bytes: Buffer[]) => end().push(...bytes),
    add(piece: string) {
      text += piece;
      if (text.length >= sliceSize) encode();
    },
    isDue: () => performance.now() - since > pauseAfterMs,
    async pause() {
      end();
      await setImmediate();
      since = performance.now();
    },
    end,
  };
}

/** Compiled on first use: most serializers are never needed by a process, and their code takes memory. */
const serializers = new WeakMap<object, Write>();
export function getSerializer(schema: object): Write {
  return (data) => {
    let write = serializers.get(schema);
    if (!write) serializers.set(schema, (write = createWriter(schema as AnySchema) as Write));
    return write(data);
  };
}

/** True if a value has so many members or so long texts that it is serialized in pieces. */
export function isLarge(value: unknown) {
  let left = 2 * sliceSize;
  const visit = (one: unknown) => {
    if (typeof one === 'string') left -= one.length;
    if (typeof one !== 'object' || one === null) return;
    for (const member of Object.values(one)) {
      left -= 16;
      if (left < 0) return;
      visit(member);
    }
  };
  visit(value);
  return left < 0;
}

/** Serializes a large value with pauses; undefined if it is longer than `maxBytes`. */
export async function writePieces(schema: object, value: unknown, maxBytes: number) {
  const output = newOutput();
  let left = maxBytes;
  for (const piece of toPieces(schema, value)) {
    left -= Buffer.byteLength(piece);
    if (left < 0) return undefined;
    output.add(piece);
    if (output.isDue()) await output.pause();
  }
  return output.end();
}

/** The text of `getSerializer`: of a large value each member and each list item by itself. */
function* toPieces(schema: Schema, value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || !isLarge(value)) {
    yield getSerializer(schema)(value);
  } else if (Array.isArray(value) && schema.items) {
    for (const [n, item] of value.entries()) {
      yield n === 0 ? '[' : ',';
      yield* toPieces(schema.items, item);
    }
    yield ']';
  } else if (!Array.isArray(value) && schema.properties && (schema.additionalProperties ?? false) === false) {
    yield* toMembers(schema, value as Record<string, unknown>);
  } else {
    yield getSerializer(schema)(value);
  }
}

/** In the order of fast-json-stringify: required members first. */
function* toMembers(schema: Schema, value: Record<string, unknown>) {
  let before = '{';
  for (const { name, member, alone } of getMembers(schema)) {
    if (isLarge(value[name])) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* toPieces(member, value[name]);
    } else {
      const text = getSerializer(alone)({ [name]: value[name] }).slice(1, -1);
      if (text === '') continue;
      yield before + text;
    }
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

type Member = { name: string; member: Schema; alone: object };
const membersBySchema = new WeakMap<Schema, Member[]>();

/** The members of a schema, each with a schema that has it alone. */
function getMembers(schema: Schema): Member[] {
  const { properties = {}, required = [] } = schema;
  const isRequired = (name: string) => Number(required.includes(name));
  const members =
    membersBySchema.get(schema) ??
    Object.entries(properties)
      .sort(([a], [b]) => isRequired(b) - isRequired(a))
      .map(([name, member]) => {
        const alone = { type: 'object', properties: { [name]: member }, required: isRequired(name) ? [name] : [] };
        return { name, member, alone };
      });
  membersBySchema.set(schema, members);
  return members;
}
