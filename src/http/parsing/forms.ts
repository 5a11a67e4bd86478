import { finished, type Readable } from 'node:stream';
import { parse } from 'fast-querystring';
import type { FastifyRequest } from 'fastify';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { Problem } from '../../core/errors.ts';
import { jsonLimits, parseJson } from '../../core/json.ts';
import { isFields } from '../../core/schema/coercion.ts';
import { hasMoreParts, replaceInvalidUtf8 } from './query-string.ts';

type Fields = Record<string, unknown>;

const formLimits = { keys: 5_000, items: 1_000 };

/** Names as they were sent, each with its value, or all values of a name that occurs again. */
type Pairs = Record<string, string | string[]>;

/** Parses `name[0]=a`, `name[]=a` and `name[key]=v`, with U+FFFD for invalid UTF-8. Throws a RangeError at limits. */
export function parseFormText(text: string): Fields {
  if (hasMoreParts(text, formLimits.keys)) throw new RangeError('The form has too many fields');
  return nest(parse(replaceInvalidUtf8(text)) as Pairs);
}

/** Parses the fields of a multipart body like the equivalent url-encoded form; values need no escapes. */
export function parseFields(fields: [name: string, value: string][]): Fields {
  if (fields.length > formLimits.keys) throw new RangeError('The form has too many fields');
  const pairs = newFields();
  for (const [name, value] of fields) put(pairs, name.toWellFormed(), value.toWellFormed());
  return nest(pairs as Pairs);
}

const newFields = () => Object.create(null) as Fields;

function nest(pairs: Pairs): Fields {
  const form = newFields();
  for (const [name, value] of Object.entries(pairs)) {
    const keys = splitName(name);
    const last = keys.pop();
    if (last === undefined) continue;
    const fields = keys.reduce(open, form);
    // An empty field beside others, such as `a[0]=1&a=`, says nothing.
    if (value !== '' || fields[last] === undefined) put(fields, last, value);
  }
  return form;
}

/** `a`, `b` and `c` of `a[b][c]`. Empty brackets are the index 0; brackets in brackets are part of the key. */
function splitName(name: string): string[] {
  const first = name.indexOf('[');
  if (first === -1) return name === '' ? [] : [name];
  const keys: string[] = [];
  let [level, start] = [0, first];
  for (let at = first; at < name.length; at += 1) {
    if (name[at] === '[' && level++ === 0) start = at;
    if (name[at] === ']' && level > 0 && --level === 0) keys.push(name.slice(start + 1, at) || '0');
  }
  if (level > 0) keys.push(name.slice(start));
  if (keys.length > jsonLimits.depth) throw new RangeError('The form is nested too deeply');
  return first === 0 ? keys : [name.slice(0, first), ...keys];
}

/** The fields within a field. Another value of it becomes an item beside them. */
function open(fields: Fields, key: string): Fields {
  const known = fields[key];
  if (isFields(known)) return known;
  const inner = newFields();
  if (Array.isArray(known)) fields[key] = Object.assign(inner, known);
  else put(fields, key, inner);
  return inner;
}

/** The values of a name that occurs again form a list. */
function put(fields: Fields, key: string, value: unknown) {
  if (key === '__proto__') return;
  const known = fields[key];
  const all = known === undefined ? value : [known, value].flat();
  if (Array.isArray(all) && all.length > formLimits.items) throw new RangeError('A field has too many values');
  fields[key] = all;
}

/** Reads the fields of a multipart body of at most `maxBytes`; refuses files but for an empty file input. */
export async function readMultipart({ headers }: FastifyRequest, body: Readable, maxBytes: number) {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  try {
    return (await readParts(headers as BusboyHeaders, body, maxBytes)).map(toField);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('invalid', 'The body is not valid multipart, or has too many fields', { cause });
  }
}

const tooLarge = () => new Problem('too_large', 'The body is too large');

type Part = { name: string; value: string; type: string };

/** Reads the rest after a fault too, else the client would get a reset instead of the response. */
function readParts(headers: BusboyHeaders, body: Readable, maxBytes: number) {
  const parts: Part[] = [];
  const limits = { fieldSize: maxBytes, fields: formLimits.keys, parts: formLimits.keys };
  let size = 0;
  let fault: Error | undefined;
  return new Promise<Part[]>((resolve, reject) => {
    const parser = new Busboy({ headers, limits });
    const fail = (error: Error) => {
      fault ??= error;
      body.unpipe(parser).resume();
      if (body.readableEnded) reject(fault);
    };
    parser.on('field', (name, value, _isNameCut, _isValueCut, _encoding, type) => parts.push({ name, value, type }));
    parser.on('file', (_name, file, fileName) => {
      const refuse = () => fail(new Problem('invalid', 'Files are not accepted, only fields'));
      if (fileName) refuse();
      // The parser reports errors of the file too.
      file.on('error', () => undefined).on('data', refuse);
    });
    for (const event of ['fieldsLimit', 'partsLimit'] as const) parser.on(event, () => fail(new RangeError(event)));
    parser.on('error', (error) => (size === 0 ? resolve([]) : fail(error as Error)));
    parser.on('finish', () => resolve(parts));
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge());
    });
    body.on('end', () => fault && reject(fault));
    finished(body, (error) => error && reject(error));
    body.pipe(parser);
  });
}

function toField({ name, value, type }: Part): [name: string, value: string] {
  if (name in Object.prototype) throw new RangeError('A property of all objects is not a field');
  if (!type.startsWith('application/json')) return [name, value];
  const parsed = parseJson(value, 'error');
  return [name, typeof parsed === 'string' ? parsed : JSON.stringify(parsed)];
}
