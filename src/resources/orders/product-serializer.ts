import { defineSerializer } from '../../lists/serializer.ts';
import { OrderProduct, toOrderProduct, type OrderProductRow } from './product-schema.ts';

export const orderProductSerializer = defineSerializer<OrderProductRow>()({
  reads: ['catalog'],
  responseSchema: OrderProduct,
  relations: {},
  toResponse: toOrderProduct,
  includes: {},
});
