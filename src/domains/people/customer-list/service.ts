import { eq } from 'drizzle-orm';
import type { Static } from '@sinclair/typebox';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { customers } from '../../../database/tables/customers.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { CustomerBody, isWebAddress, type CustomerChange } from '../customers/fields.ts';
import { customerList } from './list.ts';

const { toColumns, insert, references } = bodyWriter(customers, CustomerBody);
export const customerReferences = references;

export const getCustomer = async (ctx: Ctx, id: number, query: Static<typeof customerList.ItemQuery>) =>
  Problem.assertFound(await customerList.byId(ctx, id, query), 'Customer');

export function createCustomer(ctx: Ctx, body: CustomerBody): Promise<{ customer_id: number }> {
  const { providerId } = ctx;
  return ctx.write(['people'], async ({ tx, now }) => {
    await customerReferences.assertKnown(body, { ctx, reader: tx });
    const timestamps = { createdAt: now, updatedAt: now };
    const id = await insert(tx, { ...toColumns(body), title: body.title, ...timestamps, providerId });
    return { customer_id: tx.auditItem(id) };
  });
}

/** A partial update; returns the id. */
export function updateCustomer(ctx: Ctx, id: number, body: CustomerChange): Promise<number> {
  const customer = tenantWhere(ctx, customers, eq(customers.id, id));
  return ctx.write(['people'], async ({ tx, now }) => {
    const [found] = await tx.select({ webaddress: customers.webaddress }).from(customers).where(customer);
    const { webaddress } = Problem.assertFound(found, 'Customer');
    if (!isWebAddress(body, webaddress)) throw Problem.invalidFields({ notValid: ['web_address'] });
    await customerReferences.assertKnown(body, { ctx, reader: tx, params: { id } });
    const changed = await tx.updateChanged(customers, customer, toColumns(body), now);
    return changed === 0 ? tx.rollBack(id) : id;
  });
}
