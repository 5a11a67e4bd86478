import { eq } from 'drizzle-orm';
import { products } from '../../src/database/tables/courses.ts';
import { createBookableDate } from './booking.ts';
import { switchCatalogOn } from './catalog.ts';
import { readFormFields, type FormFields } from './catalog-form.ts';
import { write } from './orders.ts';
import { visitor } from './pages.ts';
import type { TestApp } from './test-app.ts';

export type FormOptions = {
  date?: Parameters<typeof createBookableDate>[1];
  catalog?: Record<string, unknown>;
  vat?: string;
};

/** A date of 1,000 without VAT (25 %) in a public catalog, and its form. */
export async function openFormSchool(
  { app, createProvider }: TestApp,
  { date = {}, catalog = {}, vat = '25' }: FormOptions = {},
) {
  const anyone = visitor(app);
  const me = await createProvider();
  const base = await switchCatalogOn(me, catalog);
  const { course, ...values } = date;
  const made = await createBookableDate(me, { course: { title: 'Knots', ...course }, capacityMax: 10, ...values });
  await write(me, (tx) => tx.update(products).set({ vatPercentage: vat }).where(eq(products.courseId, made.courseId)));
  const url = `${base}/dates/knots-${made.dateId}/book`;
  const open = async (query = '') => readFormFields(await anyone.get(`${url}${query}`));
  const send = (fields: FormFields, action = 'book', headers = {}) => anyone.post(url, { ...fields, action }, headers);
  return { me, base, url, open, send, anyone, ...made };
}
