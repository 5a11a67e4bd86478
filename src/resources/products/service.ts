import { eq, ne, or } from 'drizzle-orm';
import type { Ctx } from '../../core/context.ts';
import type { Tx } from '../../database/client.ts';
import { inserting, lastIdOf, stampedAtLock } from '../../database/inserting.ts';
import { courses, products } from '../../database/tables/courses.ts';
import { own } from '../../lists/reach.ts';

/** What a course says of its main product; a price that is null is none. */
type Sold = { title: string; priceValue: string | null; priceCurrency: string };

const toColumns = ({ title, priceValue, priceCurrency }: Partial<Sold>) => ({
  title,
  price: priceValue === null ? '0' : priceValue,
  currency: priceCurrency,
});

const insertOfNewCourse = inserting(products, { courseId: lastIdOf(courses), ...stampedAtLock });

/** The main product that a course has from its creation, for the course that the transaction inserts right before. */
export function mainProduct({ providerId }: Ctx, sold: Sold) {
  const { title, price, currency } = toColumns(sold);
  return insertOfNewCourse({ providerId, title: title!, price, currency, isMainProduct: true });
}

/** The main product moves along with what changes of its course; tells whether that changed it. */
export async function moveMainProduct(ctx: Ctx, tx: Tx, at: string, courseId: number, sold: Partial<Sold>) {
  const { title, price, currency } = toColumns(sold);
  const differs = or(
    title === undefined ? undefined : ne(products.title, title),
    price === undefined ? undefined : ne(products.price, price),
    currency === undefined ? undefined : ne(products.currency, currency),
  );
  if (differs === undefined) return false;
  const moved = await tx
    .update(products)
    .set({ title, price, currency, updatedAt: at })
    .where(own(ctx, products, eq(products.courseId, courseId), eq(products.isMainProduct, true), differs))
    .returning({ id: products.id });
  return moved.length > 0;
}
