import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { compressOnce, sendContent, type CompressedContent } from '../compression/static-content.ts';
import { addExamples, addParameterExamples } from './examples.ts';

const headers = { type: 'application/json; charset=utf-8', cacheControl: 'public, max-age=300' };

type Complete = (document: object) => object;

/** Serves the OpenAPI document, generated once. */
export function serveOpenapi(app: FastifyInstance, complete: Complete = (document) => addParameterExamples(document)) {
  let document: Promise<CompressedContent> | undefined;
  const getDocument = () =>
    (document ??= renderDocument(app, complete).catch((error: unknown) => {
      // The next request tries again.
      document = undefined;
      throw error;
    }));
  return async (request: FastifyRequest, reply: FastifyReply) =>
    sendContent(request, reply, await getDocument(), headers);
}

const renderDocument = async (app: FastifyInstance, complete: Complete) =>
  compressOnce(JSON.stringify(complete(await addExamples(app.swagger()))));
