import { setImmediate as nextTurn } from 'node:timers/promises';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { parseJson } from '../../core/json.ts';
import { Problem } from '../../core/errors.ts';
import { formLimits, parseFields, parseFormText } from './forms.ts';

/**
 * Parses url-encoded, multipart (fields only) and JSON bodies into one object. An empty body of any type becomes an
 * empty object; other types and compressed bodies are 415.
 */
export const bodies = fp(async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers();

  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: FastifyRequest, text: string) => {
      if (text.trim() === '') return {};
      return tryParsing<unknown>('JSON', () => parseJson(text, 'remove'));
    },
  );

  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, text: string) => parseForm(text),
  );

  await app.register(multipart, {
    limits: { fieldSize: app.initialConfig.bodyLimit, fields: formLimits.keys, parts: formLimits.keys },
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (!request.isMultipart()) {
      done();
      return;
    }
    readMultipart(request, app.initialConfig.bodyLimit!).then((body) => {
      request.body = body;
      done();
    }, done);
  });

  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, bytes: Buffer) => {
    if (bytes.length === 0) return {};
    throw new Problem('unsupported_media_type', 'The Content-Type is not supported; send a form, multipart or JSON');
  });
});

const isEmpty = ({ headers }: FastifyRequest) =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';

/** A preParsing hook: ignores the type of an empty body. Throws 415 for a compressed one. */
export function checkBody(request: FastifyRequest, _reply: unknown, _payload: unknown, done: () => void) {
  const { headers } = request;
  if (isEmpty(request)) {
    if (headers['content-type'] !== undefined) delete headers['content-type'];
  } else {
    const encoding = headers['content-encoding']?.toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity')
      throw new Problem('unsupported_media_type', 'A Content-Encoding is not supported');
  }
  done();
}

async function parseForm(text: string) {
  if (/^\s*\{/.test(text)) {
    throw new Problem(
      'invalid',
      'The body looks like JSON but was sent as a form; send Content-Type: application/json',
    );
  }
  return tryParsing('form', () => parseFormText(text));
}

async function tryParsing<T>(format: string, parse: () => T | Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    const reason =
      cause instanceof RangeError ? 'has too many fields or is nested too deeply' : `is not valid ${format}`;
    throw new Problem('invalid', `The body ${reason}`, { cause });
  }
}

async function readMultipart(request: FastifyRequest, bodyLimit: number) {
  const tooLarge = () => new Problem('too_large', 'The body is too large');
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw tooLarge();

  let size = 0;
  const overflow = new Promise<never>((_resolve, reject) => {
    request.raw.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimit) reject(tooLarge());
    });
  });
  overflow.catch(() => undefined);

  const fields: [string, string][] = [];
  const completed = appendFields(request, fields);
  try {
    await Promise.race([completed, overflow]);
  } catch (error) {
    completed.catch(() => undefined);
    request.raw.unpipe();
    request.raw.resume();
    throw toMultipartProblem(error);
  }
  return tryParsing('form', () => parseFields(fields));
}

async function appendFields(request: FastifyRequest, fields: [string, string][]) {
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      if (part.filename || !(await isEmptyFile(part.file)))
        throw new Problem('invalid', 'Files are not accepted, only fields');
      continue;
    }
    fields.push([part.fieldname, typeof part.value === 'string' ? part.value : JSON.stringify(part.value)]);
    if (fields.length % formLimits.slice === 0) await nextTurn();
  }
}

/** Browsers send an empty part without a file name for an empty file input. */
async function isEmptyFile(file: AsyncIterable<Buffer>) {
  for await (const chunk of file) if (chunk.length > 0) return false;
  return true;
}

function toMultipartProblem(error: unknown) {
  if (error instanceof Problem) return error;
  return new Problem('invalid', 'The body is not valid multipart, or has too many fields', { cause: error });
}
