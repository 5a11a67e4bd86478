import { Type } from '@sinclair/typebox';
import { toSlug } from '../../../core/catalog-urls.ts';
import { Problem } from '../../../core/errors.ts';
import { Html } from '../../../core/schema/types.ts';
import { courseCategories, courseLabels, courseTags } from '../../../database/tables/catalog.ts';
import { courses, courseTranslations, products } from '../../../database/tables/courses.ts';
import { teachingLanguageCodes } from '../../../core/reference/courses.ts';
import { importedCourse } from '../../../domains/courses/courses/fields.ts';
import { assignImportedAddresses } from '../../../domains/courses/courses/address-service.ts';
import { importedProduct } from '../../../domains/courses/products/fields.ts';
import { validateCrossFields, type CrossFields } from '../../../domains/courses/courses/service.ts';
import { descriptionMembers } from '../../../domains/courses/courses/schema.ts';
import { field, links, storedFields, type BulkRecordType, type Fields, type Item } from '../record-type.ts';

/** A product; a course without any gets a main product with its own price. */
const product: Item = {
  table: products,
  fields: storedFields(importedProduct),
};

const translation: Item = {
  table: courseTranslations,
  fields: Object.fromEntries(
    Object.entries(descriptionMembers).map(([name, column]) => [
      name,
      field(courseTranslations[column], Type.Optional(Html())),
    ]),
  ),
};

export const course: BulkRecordType = {
  kind: 'course',
  table: courses,
  unique: {
    field: 'title',
    folded: true,
    among: 't.is_active and t.deleted_at is null',
    applies: ({ active, deleted_at: deletedAt }) => active !== false && deletedAt === undefined,
  },
  fields: storedFields(importedCourse),
  derived: { slug: courses.slug, related_items_updated_at: courses.relatedItemsUpdatedAt },
  computed: { related_items_updated_at: 'v.created_at' },
  parts: {
    tags: links(courseTags.courseId, courseTags.tagId, 'tag', 100),
    labels: links(courseLabels.courseId, courseLabels.labelId, 'label', 100),
    categories: links(courseCategories.courseId, courseCategories.categoryId, 'category'),
    products: { form: 'list', kind: 'product', owner: products.courseId, item: product },
    translations: {
      form: 'by-key',
      owner: courseTranslations.courseId,
      key: courseTranslations.languageId,
      keys: teachingLanguageCodes,
      item: translation,
    },
  },
  complete(fields) {
    const { duration_value: durationValue, duration_unit: durationUnitId, customer_id: customerId } = fields;
    validateCrossFields({ durationValue, durationUnitId, customerId, type: fields['type'] } as CrossFields);
    const products = (fields['products'] ?? []) as Fields[];
    const mains = products.filter(({ is_main_product: isMain }) => isMain === true).length;
    if (products.length > 0 && mains !== 1) throw Problem.invalidFields({ notValid: ['products'] });
    const { title, price_value: price = 0, price_currency: currency } = fields;
    fields['products'] ??= [{ title, price: String(price), currency, is_main_product: true }];
    return { slug: toSlug(title as string) };
  },
  afterInsert: assignImportedAddresses,
};
