import { member } from '../../../core/schema/types.ts';
import { customers } from '../../../database/tables/customers.ts';
import { rowLoader } from '../../../lists/loaders.ts';
import { relation } from '../../../lists/relations.ts';
import { defineSerializer } from '../../../lists/serializer.ts';
import { fetchAdminUsers } from '../../school/admin-users/loaders.ts';
import { Customer, toCustomer, type CustomerRow } from './fields.ts';

export const fetchCustomers = rowLoader(customers);

const loadSeller = relation.belongsTo(
  (row: CustomerRow) => row.sellerId,
  fetchAdminUsers,
  ({ id, firstname, lastname, email }) => ({ id, firstname, lastname, email }),
);

export const customerSerializer = defineSerializer<CustomerRow>()({
  reads: ['people'],
  responseSchema: Customer,
  relations: { seller: loadSeller },
  toResponse: toCustomer,
});

export const includeCustomer = relation.includer(fetchCustomers, customerSerializer, member.personal);
