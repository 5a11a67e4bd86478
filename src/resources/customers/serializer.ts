import { customers } from '../../database/tables/customers.ts';
import { byKeys, ofKeys } from '../../lists/loaders.ts';
import { one } from '../../lists/relations.ts';
import { shapeOf } from '../../lists/serializer.ts';
import { fetchAdminUsers } from '../admin-users/serializer.ts';
import { Customer, toCustomer, type CustomerRow } from './schema.ts';

const sellerOf = one(
  (row: CustomerRow) => row.sellerId,
  fetchAdminUsers,
  ({ id, firstname, lastname, email }) => ({ id, firstname, lastname, email }),
);

export const customerShape = shapeOf<CustomerRow>()({
  view: Customer,
  parts: { seller: sellerOf },
  toView: toCustomer,
  includes: {},
});

/** Customers by their ids. */
export const fetchCustomers = byKeys((ctx, keys) =>
  ctx.db
    .select()
    .from(customers)
    .where(ofKeys(ctx, customers.providerId, customers.id, keys)),
);
