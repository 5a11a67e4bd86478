import { customers } from '../../../database/tables/customers.ts';
import { rowLoader } from '../../../lists/loaders.ts';

export const fetchCustomers = rowLoader(customers);
