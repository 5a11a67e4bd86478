import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { Title } from '../../core/schema.ts';
import { faults } from '../../http/answers.ts';
import { answerProblems, bookingWording } from '../../http/problems.ts';
import { Voucher } from './schema.ts';
import { validateVoucher } from './service.ts';

export const voucherValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  answerProblems(app, bookingWording);

  // Without an ETag: whether it has expired depends on the clock.
  app.get(
    '/:code',
    {
      schema: {
        summary: 'Look up a voucher code',
        description: 'An expired, archived or deleted voucher is answered too, and says so.',
        tags: ['Booking'],
        params: Type.Object({ code: Title() }),
        response: { 200: Type.Object({ successful: Type.Boolean(), voucher: Voucher }), ...faults },
      },
    },
    ({ ctx, params }) => validateVoucher(ctx, params.code),
  );
};
