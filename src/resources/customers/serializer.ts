import { customers } from '../../database/tables/customers.ts';
import { batchLoader, type Key } from '../../lists/loaders.ts';
import { relation } from '../../lists/relations.ts';
import { defineSerializer } from '../../lists/serializer.ts';
import { fetchAdminUsers } from '../admin-users/serializer.ts';
import { Customer, toCustomer, type CustomerRow } from './schema.ts';

const loadSeller = relation.belongsTo(
  (row: CustomerRow) => row.sellerId,
  fetchAdminUsers,
  ({ id, firstname, lastname, email }) => ({ id, firstname, lastname, email }),
);

export const customerSerializer = defineSerializer<CustomerRow>()({
  responseSchema: Customer,
  relations: { seller: loadSeller },
  toResponse: toCustomer,
  includes: {},
});

/** Customers by their ids. */
export const fetchCustomers = batchLoader((ctx, keys) =>
  ctx.db.select().from(customers).where(keys.match(customers, customers.id)),
);

export const includeCustomer = <Row extends Key>(customerId: (row: Row) => number | null) =>
  relation.includeOne(customerId, fetchCustomers, customerSerializer, 'unset');
