import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { itemOperations } from '../../../lists/item-operations.ts';
import { CustomerBody, isWebAddress, type CustomerChange, type CustomerRow } from '../customers/fields.ts';
import { customerList } from './list.ts';

const writer = bodyWriter(customers, CustomerBody);
export const customerReferences = writer.references;

export const getCustomer = async (ctx: Ctx, id: number, query: Static<typeof customerList.ItemQuery>) =>
  Problem.assertFound(await customerList.byId(ctx, id, query), 'Customer');

/** Respond with the id alone. */
export const { create: createCustomer, update: updateCustomer } = itemOperations<
  { customer_id: number },
  CustomerBody,
  CustomerChange
>({
  ...{ item: 'Customer', table: customers, areas: ['people'], writer },
  find: async (_, id) => ({ customer_id: id }),
  derive(body, before?: CustomerRow) {
    if (!isWebAddress(body, before?.webaddress ?? null)) throw Problem.invalidFields({ notValid: ['web_address'] });
    return {};
  },
});
