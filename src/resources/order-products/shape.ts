import { shapeOf } from '../../lists/shape.ts';
import { OrderProduct, toOrderProduct, type OrderProductRow } from './schema.ts';

export const orderProductShape = shapeOf<OrderProductRow>()({
  view: OrderProduct,
  parts: {},
  toView: toOrderProduct,
  includes: {},
});
