import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Problem } from '../../../core/errors.ts';
import { allAreas } from '../../../database/areas.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses } from '../../../http/responses.ts';
import { EventType } from '../../../database/record-events.ts';
import { t } from '../../../core/schema/types.ts';
import { Changes, Gone, maxLimit } from './schema.ts';
import { listChanges } from './service.ts';

const Query = Type.Object({
  since: Type.Optional(Type.String({ description: 'A cursor; no changes, and the cursor of now, unless sent' })),
  types: Type.Optional(
    t.List(EventType, {
      maxItems: 100,
      description: 'Only changes of these types, and each `resync` of their resources; all types unless sent',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 100,
      description: `Changes per response; more than ${maxLimit} counts as ${maxLimit}`,
    }),
  ),
});

export const changeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'listChanges',
      summary: 'List changes',
      description:
        'The changes of the school after a cursor, in the order of their commits, without gaps. Start without `since`, ' +
        'read everything once, then follow `cursor`. 410 means that the cursor cannot be continued: start again.',
      tags: ['Changes'],
      profiles: ['full', 'read'],
      querystring: Query,
      response: { ...responses.ok(Changes), 410: Gone },
    },
    // Before coercion, for which an empty value is none: a client that has lost its cursor would miss changes.
    async preParsing({ query }) {
      if ((query as { since?: unknown }).since === '') throw Problem.invalidCursor();
    },
    ...listRoute.conditional(() => allAreas),
    handler: (request) => listChanges(listRoute.toCtx(request), request.query),
  });
};
