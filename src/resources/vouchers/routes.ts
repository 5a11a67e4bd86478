import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../core/schema/types.ts';
import { responses } from '../../http/responses.ts';
import { registerCodedErrorFormat } from '../../http/errors/error-handler.ts';
import { ValidVoucher } from './schema.ts';
import { validateVoucher } from './service.ts';

export const voucherValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  const schema = {
    description: 'An expired, archived or deleted voucher is returned with its state.',
    tags: ['Booking'],
    profiles: ['full', 'read', 'booking'] as const,
    item: 'Voucher',
    response: { 200: ValidVoucher, ...responses.codedErrors },
  };
  const Code = Type.Object({ code: t.Title({ description: 'The voucher code', examples: ['GAVE-FJORD-2408'] }) });

  // Without an ETag: expiry depends on the clock.
  app.get('', {
    schema: {
      operationId: 'validateVoucherByQuery',
      summary: 'Validate a voucher code in the query',
      ...schema,
      querystring: Code,
    },
    handler: ({ ctx, query }) => validateVoucher(ctx, query.code),
  });
  app.get('/:code', {
    schema: { operationId: 'validateVoucher', summary: 'Validate a voucher code', ...schema, params: Code },
    handler: ({ ctx, params }) => validateVoucher(ctx, params.code),
  });
};
