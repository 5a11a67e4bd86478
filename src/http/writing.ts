import writerOf, { type AnySchema } from 'fast-json-stringify';

type Schema = { items?: Schema; properties?: Record<string, Schema>; required?: string[] };
type Write = (data: unknown) => string;

/** So many characters are encoded at once: V8 keeps longer texts apart, and collects them late. */
const pieceSize = 32_768;

/**
 * Writes what a response schema describes, as text or, where it is a long list, as its bytes. A list is written item by item:
 * one text of all would be copied as a whole to be encoded, and stay until V8 collects what is old.
 */
export function writing(schema: object): (data: unknown) => string | Buffer {
  const { items: listed, properties, required = [] } = schema as Schema;
  const { items: enveloped, ...members } = properties ?? {};
  const isEnvelope = required.includes('items') && required.length > 1;
  const item = listed ?? (isEnvelope ? enveloped?.items : undefined);
  if (!item) return writerWhenNeeded(schema);

  const writeItem = writerWhenNeeded(item);
  const others = required.filter((name) => name !== 'items');
  const writeMembers = writerWhenNeeded({ type: 'object', properties: members, required: others });
  return (data) => {
    if (Array.isArray(data)) return writeList('[', data, writeItem, ']');
    const { items } = data as { items: unknown[] };
    return writeList(`${writeMembers(data).slice(0, -1)},"items":[`, items, writeItem, ']}');
  };
}

/** A good part of what is held in memory would be what this process may never need. */
function writerWhenNeeded(schema: object): Write {
  let write: Write | undefined;
  return (data) => (write ??= writerOf(schema as AnySchema) as Write)(data);
}

/** A list is written in one go, so all share this; what V8 frees late is then what is sent and little more. */
const shared = Buffer.allocUnsafeSlow(1_048_576);

function writeList(before: string, items: unknown[], write: Write, after: string): string | Buffer {
  const full: Buffer[] = [];
  let length = 0;
  let text = before;
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
  items.forEach((one, n) => {
    text += n === 0 ? write(one) : `,${write(one)}`;
    if (text.length >= pieceSize) encode();
  });
  text += after;
  if (length === 0 && full.length === 0) return text;
  encode();
  takeOut();
  return full.length === 1 ? full[0]! : Buffer.concat(full);
}
