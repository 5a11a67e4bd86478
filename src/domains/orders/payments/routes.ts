import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { t } from '../../../core/schema/types.ts';
import { itemRoutes } from '../../../http/item-routes.ts';
import { addPageRoute } from '../../../http/page-route.ts';
import { responses } from '../../../http/responses.ts';
import { PaymentBody } from './body-schema.ts';
import { paymentList } from './list.ts';
import { CreatedPayment, Payment } from './schema.ts';
import { createPayment, getPayment, reversePayment } from './service.ts';

const tags = ['Orders'];

export const paymentRoutes: FastifyPluginAsyncTypebox = async (app) => {
  addPageRoute(app, paymentList, {
    operationId: 'listPayments',
    summary: 'List payments',
    description: 'Of all orders, with reversed payments. Vouchers pay without a payment of their own.',
    tags,
    profiles: ['full', 'read'],
  });

  itemRoutes(app, 'Payment', tags, Payment).get(getPayment, {
    operationId: 'getPayment',
    summary: 'Get a payment',
    description: 'Reversed or not.',
    profiles: ['full', 'read'],
  });
};

export const orderPaymentRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('', {
    schema: {
      operationId: 'createPayment',
      summary: 'Add a payment of an order',
      description:
        'At most what is due, unless it is `overpaid`. An order of which nothing is due is paid, with its participants. ' +
        'A request with the reference of a payment of the order finds that payment: `200`.',
      tags,
      profiles: ['full'],
      item: 'Order',
      params: Type.Object({ id: t.Id }),
      body: PaymentBody,
      response: { 200: CreatedPayment, ...responses.created(CreatedPayment) },
    },
    config: { refusesUnknown: true, idempotency: {} },
    handler: async ({ ctx, params, body }, reply) => {
      const { payment, isNew } = await createPayment(ctx, params.id, body);
      return isNew ? reply.created(payment.id, payment, '/v2/payments') : payment;
    },
  });

  app.delete('/:payment_id', {
    schema: {
      operationId: 'reversePayment',
      summary: 'Reverse a payment',
      description: 'It stays listed and no longer counts. A second request changes nothing.',
      tags,
      profiles: ['full'],
      item: 'Payment',
      params: Type.Object({ id: { ...t.Id, description: 'Id of the order' }, payment_id: t.Id }),
      response: responses.ok(Payment),
    },
    handler: ({ ctx, params }) => reversePayment(ctx, params.id, params.payment_id),
  });
};
