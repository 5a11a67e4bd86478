import { setImmediate } from 'node:timers/promises';
import writerOf, { type AnySchema } from 'fast-json-stringify';
import { embeddedIn } from '../lists/response-budget.ts';

export type Schema = {
  type?: string | string[];
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
    add(slice: string) {
      text += slice;
      if (text.length >= sliceSize) encode();
    },
    addBytes: (bytes: Buffer[]) => end().push(...bytes),
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
    if (!write) serializers.set(schema, (write = writerOf(schema as AnySchema) as Write));
    return write(data);
  };
}

/** True if a value has so many members or so long texts that it is serialized in slices. */
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

type Bounds = { bytes: number; embedded: number };

/** Serializes a large value with pauses; undefined where it is larger than its bounds. */
export async function serializeInSlices(schema: object, value: unknown, bounds: Bounds) {
  const size: Bounds = { bytes: 0, embedded: 0 };
  const output = newOutput();
  for (const slice of serializeValue(schema, value, size)) {
    size.bytes += Buffer.byteLength(slice);
    if (size.bytes > bounds.bytes || size.embedded > bounds.embedded) return undefined;
    output.add(slice);
    if (output.isDue()) await output.pause();
  }
  return { bytes: output.end(), size };
}

/** The text of `getSerializer`, with large members in several slices. */
function* serializeValue(schema: Schema, value: unknown, size: Bounds): Generator<string> {
  const type = [schema.type].flat().filter((one) => one !== 'null');
  const isOne = type.length === 1 && typeof value === 'object' && value !== null;
  if (isOne && type[0] === 'array' && schema.items && Array.isArray(value) && isLarge(value)) {
    size.embedded += value.length;
    for (const [n, item] of value.entries()) {
      yield n === 0 ? '[' : ',';
      yield* serializeValue(schema.items, item, size);
    }
    yield ']';
  } else if (isOne && type[0] === 'object' && isPlain(schema) && isLarge(value)) {
    yield* serializeMembers(schema, value as Record<string, unknown>, size);
  } else {
    size.embedded += embeddedIn(value);
    yield getSerializer(schema)(value);
  }
}

const isPlain = (schema: Schema) =>
  schema.properties !== undefined &&
  (schema.additionalProperties ?? false) === false &&
  !['patternProperties', 'anyOf', 'oneOf', 'allOf', 'if', '$ref'].some((keyword) => keyword in schema);

/** In the order of fast-json-stringify: required members first. */
function* serializeMembers({ properties = {}, required = [] }: Schema, value: Record<string, unknown>, size: Bounds) {
  const isRequired = (name: string) => Number(required.includes(name));
  const names = Object.keys(properties).sort((a, b) => isRequired(b) - isRequired(a));
  let before = '{';
  for (const name of names) {
    const schema = properties[name]!;
    if (isLarge(value[name])) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* serializeValue(schema, value[name], size);
    } else {
      const alone = memberSchema(schema, name, required.includes(name));
      const text = getSerializer(alone)({ [name]: value[name] }).slice(1, -1);
      if (text === '') continue;
      size.embedded += embeddedIn(value[name]);
      yield before + text;
    }
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

const memberSchemas = new WeakMap<object, Map<string, object>>();

/** A schema with this member alone, cached. */
function memberSchema(schema: object, name: string, isRequired: boolean) {
  const known = memberSchemas.get(schema) ?? new Map<string, object>();
  memberSchemas.set(schema, known);
  const key = `${name} ${isRequired}`;
  const created = known.get(key) ?? {
    type: 'object',
    properties: { [name]: schema },
    ...(isRequired && { required: [name] }),
  };
  known.set(key, created);
  return created;
}
