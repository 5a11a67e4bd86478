import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { DryRunQuery, isDryRun } from '../../../core/schema/dry-run.ts';
import { responses } from '../../../http/responses.ts';
import { ErasureBody } from './body-schema.ts';
import { Erasure } from './schema.ts';
import { eraseCourseUser } from './service.ts';

export const erasureRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'eraseCourseUser',
      summary: 'Erase the personal data of a course user',
      description:
        'Names, addresses, texts, passwords, sessions, links and mails go. Places, amounts and statistics stay: nobody is ' +
        'deregistered. A buyer whom an invoice needs stays until the day in `kept`, and goes by itself then.',
      tags: ['People'],
      profiles: ['full'],
      item: 'Course user',
      params: Type.Object({ id: t.Id }),
      querystring: DryRunQuery,
      body: ErasureBody,
      response: responses.ok(Erasure),
    },
    config: { refusesUnknown: true },
    handler: (request) => eraseCourseUser(request.ctx, request.params.id, { dry_run: isDryRun(request) }),
  });
};
