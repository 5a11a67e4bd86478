import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { compressOnce, sendContent, type CompressedContent } from '../compression/static-content.ts';
import { addExamples } from './examples.ts';

const headers = { type: 'application/json; charset=utf-8', cacheControl: 'public, max-age=300' };

/** Serves the OpenAPI document, generated once. */
export function serveOpenapi(app: FastifyInstance) {
  let document: Promise<CompressedContent> | undefined;
  const getDocument = () =>
    (document ??= renderDocument(app).catch((error: unknown) => {
      // The next request tries again.
      document = undefined;
      throw error;
    }));
  return async (request: FastifyRequest, reply: FastifyReply) =>
    sendContent(request, reply, await getDocument(), headers);
}

const renderDocument = async (app: FastifyInstance) => compressOnce(JSON.stringify(await addExamples(app.swagger())));
