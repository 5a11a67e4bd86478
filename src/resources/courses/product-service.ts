import { eq, ne, or } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import type { Tx } from '../../database/client.ts';
import { prepareInsert, insert } from '../../database/prepared-insert.ts';
import { products } from '../../database/tables/courses.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';

/** What a course says of its main product; a price that is null is none. */
type Sold = { title: string; priceValue: string | null; priceCurrency: string };

const toColumns = ({ title, priceValue, priceCurrency }: Partial<Sold>) => ({
  title,
  price: priceValue === null ? '0' : priceValue,
  currency: priceCurrency,
});

const insertProduct = prepareInsert(products);

/** Inserts the main product that a course has from its creation. */
export async function insertMainProduct({ providerId }: Ctx, tx: Tx, now: string, courseId: number, sold: Sold) {
  const columns = { ...toColumns(sold), title: sold.title };
  const timestamps = { createdAt: now, updatedAt: now };
  await insert(tx, insertProduct({ ...columns, ...timestamps, providerId, courseId, isMainProduct: true }));
}

/** The main product moves along with what changes of its course; tells whether that changed it. */
export async function moveMainProduct(ctx: Ctx, tx: Tx, now: string, courseId: number, sold: Partial<Sold>) {
  const { title, price, currency } = toColumns(sold);
  const differs = or(
    title === undefined ? undefined : ne(products.title, title),
    price === undefined ? undefined : ne(products.price, price),
    currency === undefined ? undefined : ne(products.currency, currency),
  );
  if (differs === undefined) return false;
  const moved = await tx
    .update(products)
    .set({ title, price, currency, updatedAt: now })
    .where(tenantWhere(ctx, products, eq(products.courseId, courseId), eq(products.isMainProduct, true), differs))
    .returning({ id: products.id });
  return moved.length > 0;
}
