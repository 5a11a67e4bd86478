import { finished, type Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { parseJson } from '../../core/json.ts';
import { formLimits } from './forms.ts';

/**
 * Reads the fields of a multipart body of at most `maxBytes`. Rejects a file, unless it is the empty part that browsers
 * send for an empty file input.
 */
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
