import { eq, ne, or } from 'drizzle-orm';
import type { WriteCtx } from '../../../database/context.ts';
import { products } from '../../../database/tables/courses.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

/** A null price is 0. */
type ProductInput = { title: string; priceValue: string | null; priceCurrency: string };

const toColumns = ({ title, priceValue, priceCurrency }: Partial<ProductInput>) => ({
  title,
  price: priceValue === null ? '0' : priceValue,
  currency: priceCurrency,
});

export async function insertMainProduct({ providerId, tx, now }: WriteCtx, courseId: number, input: ProductInput) {
  const columns = { ...toColumns(input), title: input.title };
  const timestamps = { createdAt: now, updatedAt: now };
  await tx.insert(products).values({ ...columns, ...timestamps, providerId, courseId, isMainProduct: true });
}

/** Copies changed course fields to the main product; returns true if that changed it. */
export async function updateMainProduct(w: WriteCtx, courseId: number, input: Partial<ProductInput>) {
  const { title, price, currency } = toColumns(input);
  const differs = or(
    title === undefined ? undefined : ne(products.title, title),
    price === undefined ? undefined : ne(products.price, price),
    currency === undefined ? undefined : ne(products.currency, currency),
  );
  if (differs === undefined) return false;
  const updated = await w.tx
    .update(products)
    .set({ title, price, currency, updatedAt: w.now })
    .where(tenantWhere(w, products, eq(products.courseId, courseId), eq(products.isMainProduct, true), differs))
    .returning({ id: products.id });
  return updated.length > 0;
}
