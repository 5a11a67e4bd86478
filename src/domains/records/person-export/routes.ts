import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { responses } from '../../../http/responses.ts';
import { pageSize, PersonExport } from './schema.ts';
import { exportCourseUser } from './service.ts';

const Page = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: `Page of each list, of ${pageSize} items`,
  }),
);

export const personExportRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('', {
    schema: {
      operationId: 'exportCourseUser',
      summary: 'Export everything held about a course user',
      description:
        'The course user with all places, orders, sessions, mails and other records. `incomplete` names the lists that ' +
        'go on: read the next `page` until it is empty. Of an order that somebody else pays, the buyer is left out.',
      tags: ['People'],
      profiles: ['full'],
      item: 'Course user',
      params: Type.Object({ id: t.Id }),
      querystring: Type.Object({ page: Page }),
      response: responses.ok(PersonExport),
    },
    handler: ({ ctx, params, query }) => exportCourseUser(ctx, params.id, query.page ?? 1),
  });
};
