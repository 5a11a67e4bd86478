import { demoCategories } from './categories.ts';
import { lines, type Line } from './lines.ts';
import type { DemoCourse } from './types.ts';

/** The catalog's categories, shared by all schools. */
export const categoryLines: Line[] = demoCategories.map(({ slug, title, parent }) => ({
  ...{ kind: 'category', ref: slug, slug, title, parent_id: parent },
}));

/** Categories of the courses, with their parents. */
export function categoryLinesFor(courses: DemoCourse[]) {
  const usedSlugs = new Set(courses.flatMap(({ categories }) => categories));
  const parentSlugs = categoryLines.filter(({ ref }) => usedSlugs.has(ref)).map((line) => line['parent_id']);
  return categoryLines.filter(({ ref }) => usedSlugs.has(ref) || parentSlugs.includes(ref));
}

const titles = (kind: 'tag' | 'label', found: string[]) =>
  lines(
    kind,
    [...new Set(found)].map((title) => ({ ref: title, title })),
  );

/** Courses after their tags and labels; categories must come first. */
export const courseLines = (courses: DemoCourse[]): Line[] => [
  ...titles(
    'tag',
    courses.flatMap(({ tags = [] }) => tags),
  ),
  ...titles(
    'label',
    courses.flatMap(({ labels = [] }) => labels),
  ),
  ...courses.map(courseLine),
];

function courseLine({ customer, vat_percentage, ...course }: DemoCourse): Line {
  const { title, reference = title, price_value: price = 0, price_currency: currency } = course;
  // Norway's standard accounts for sales with and without value added tax.
  const account_number = vat_percentage === undefined ? '3100' : '3000';
  const product = { title, price: String(price), currency, vat_percentage, account_number, is_main_product: true };
  return { kind: 'course', ref: reference, ...course, customer_id: customer, products: [product] };
}
