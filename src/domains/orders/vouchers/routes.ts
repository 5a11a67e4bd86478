import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { listRoute } from '../../../http/list-cache/index.ts';
import { responses, send } from '../../../http/responses.ts';
import { registerCodedErrorFormat } from '../../../http/errors/error-handler.ts';
import { maxRedemptions, ValidVoucher, VoucherBody, VoucherChange, VoucherDetails } from './fields.ts';
import { voucherList } from './list.ts';
import { validateVoucher, voucherOperations } from './service.ts';

export const voucherRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const items = itemRoutes(app, 'Voucher', ['Orders'], VoucherDetails);

  // Without an ETag: expiry depends on the clock.
  app.get('', {
    schema: {
      operationId: 'listVouchers',
      summary: 'List vouchers',
      description: 'An array, with expired and archived vouchers.',
      tags: ['Orders'],
      profiles: ['full', 'read'],
      querystring: voucherList.Query,
      response: responses.ok(Type.Array(voucherList.View)),
    },
    ...listRoute.limited,
    handler: async (request, reply) =>
      send.items(request, reply, await voucherList.page(listRoute.toCtx(request), request.query)),
  });

  items.post(voucherOperations.create, {
    operationId: 'createVoucher',
    summary: 'Create a voucher',
    description: 'Its balance is the amount.',
    body: VoucherBody,
  });

  items.get(voucherOperations.get, {
    operationId: 'getVoucher',
    summary: 'Get a voucher',
    description: `Archived or not, with its redemptions: at most ${maxRedemptions}, and \`redemptions_truncated\` if there are more.`,
    profiles: ['full', 'read'],
  });

  items.put(voucherOperations.update, {
    operationId: 'updateVoucher',
    summary: 'Update a voucher',
    description: 'Only the fields sent change. The balance changes with `amount`, which is at least what was spent.',
    body: VoucherChange,
  });

  items.delete(voucherOperations.archive, {
    operationId: 'archiveVoucher',
    summary: 'Archive a voucher',
    description: 'It pays no more; it stays listed, with `archived_at` set. A second request changes nothing.',
  });
};

export const voucherValidationRoutes: FastifyPluginAsyncTypebox = async (app) => {
  registerCodedErrorFormat(app);

  // Without an ETag: expiry depends on the clock.
  app.get('/:code', {
    schema: {
      operationId: 'validateVoucher',
      summary: 'Validate a voucher code',
      description: 'An expired, archived or deleted voucher is returned with its state.',
      tags: ['Booking'],
      profiles: ['full', 'read', 'booking'],
      item: 'Voucher',
      params: Type.Object({ code: t.Title({ description: 'The voucher code', examples: ['GAVE-FJORD-2408'] }) }),
      response: { 200: ValidVoucher, ...responses.codedErrors },
    },
    handler: ({ ctx, params }) => validateVoucher(ctx, params.code),
  });
};
