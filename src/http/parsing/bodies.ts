import type { IncomingMessage } from 'node:http';
import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { parseJson } from '../../core/json.ts';
import { Problem } from '../../core/errors.ts';
import { parseFields, parseFormText, readMultipart } from './forms.ts';

/** Parses forms, multipart fields and JSON into one object, empty for an empty body; others are 415. */
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

  await app.register(formbody, { parser: parseForm });

  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, body: IncomingMessage) => {
    const fields = await readMultipart(request, body, request.routeOptions.bodyLimit);
    return tryParsing('form', () => parseFields(fields));
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

function parseForm(text: string) {
  if (/^\s*\{/.test(text)) {
    throw new Problem(
      'invalid',
      'The body looks like JSON but was sent as a form; send Content-Type: application/json',
    );
  }
  return tryParsing('form', () => parseFormText(text));
}

function tryParsing<T>(format: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    const reason =
      cause instanceof RangeError ? 'has too many fields or is nested too deeply' : `is not valid ${format}`;
    throw new Problem('invalid', `The body ${reason}`, { cause });
  }
}
