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
    // The rest is read, so that the client gets the response.
    body.unpipe();
    body.resume();
    if (cause instanceof Problem) throw cause;
    throw new Problem('invalid', 'The body is not valid multipart, or has too many fields', { cause });
  }
}

const tooLarge = () => new Problem('too_large', 'The body is too large');

type Part = { name: string; value: string; type: string };

function readParts(headers: BusboyHeaders, body: Readable, maxBytes: number) {
  const parts: Part[] = [];
  const limits = { fieldSize: maxBytes, fields: formLimits.keys, parts: formLimits.keys };
  let size = 0;
  return new Promise<Part[]>((resolve, reject) => {
    const parser = new Busboy({ headers, limits });
    parser.on('field', (name, value, _isNameCut, _isValueCut, _encoding, type) => parts.push({ name, value, type }));
    parser.on('file', (_name, file, fileName) => {
      const refuse = () => reject(new Problem('invalid', 'Files are not accepted, only fields'));
      if (fileName) refuse();
      // An error of the file is one of the parser too.
      file.on('error', () => undefined).on('data', refuse);
    });
    for (const event of ['fieldsLimit', 'partsLimit'] as const) parser.on(event, () => reject(new RangeError(event)));
    parser.on('error', (error) => (size === 0 ? resolve([]) : reject(error as Error)));
    parser.on('finish', () => resolve(parts));
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge());
    });
    finished(body, (error) => error && reject(error));
    body.pipe(parser);
  });
}

function toField({ name, value, type }: Part): [name: string, value: string] {
  if (name in Object.prototype) throw new RangeError('A property of all objects is not a field');
  return [name, type.startsWith('application/json') ? JSON.stringify(parseJson(value, 'error')) : value];
}
