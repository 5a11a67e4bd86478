import { Type } from '@sinclair/typebox';
import { slugOf } from '../../core/catalog.ts';
import { invalidFields } from '../../core/problem.ts';
import { Flag, Html, Line, Moment, Title } from '../../core/schema.ts';
import { courseCategories, courseLabels, courseTags } from '../../database/tables/catalog.ts';
import { courses, courseTranslations, products } from '../../database/tables/courses.ts';
import { teachingLanguageCodes } from '../../reference/courses.ts';
import { CourseBody } from '../../resources/courses/body.ts';
import { descriptionMembers } from '../../resources/courses/schema.ts';
import { field, refersTo, type BulkKind, type Field, type Fields, type Item } from '../kind.ts';
import { Amount, Percentage } from './words.ts';

const { Optional } = Type;
const { properties } = CourseBody;

const of = (name: keyof typeof properties, column: Field['column']) => [name, field(column, properties[name])] as const;

/** What a course is sold as; without any, a course gets its main product from its own price. */
const product: Item = {
  table: products,
  fields: {
    item_number: field(products.itemNumber, Optional(Line())),
    title: field(products.title, Title()),
    title_label: field(products.titleLabel, Optional(Line())),
    price: field(products.price, Optional(Amount)),
    currency: field(products.currency, properties.price_currency),
    vat_percentage: field(products.vatPercentage, Optional(Percentage)),
    is_main_product: field(products.isMainProduct, Optional(Flag())),
    account_number: field(products.accountNumber, Optional(Line())),
    cost_unit: field(products.costUnit, Optional(Line())),
    id_external_system: field(products.externalId, Optional(Line())),
    archived_at: field(products.archivedAt, Optional(Moment())),
  },
};

const translation: Item = {
  table: courseTranslations,
  fields: Object.fromEntries(
    Object.entries(descriptionMembers).map(([name, column]) => [
      name,
      field(courseTranslations[column], Optional(Html())),
    ]),
  ),
};

export const course: BulkKind = {
  kind: 'course',
  table: courses,
  unique: {
    field: 'title',
    among: 't.is_active and t.deleted_at is null',
    applies: ({ active, deleted_at: deletedAt }) => active !== false && deletedAt === undefined,
  },
  fields: {
    ...Object.fromEntries([
      of('title', courses.title),
      of('active', courses.isActive),
      of('reference', courses.reference),
      of('is_full_time', courses.isFullTime),
      of('is_part_time', courses.isPartTime),
      of('level', courses.levelId),
      of('form_of_teaching', courses.formOfTeachingId),
      of('teaching_language', courses.teachingLanguageId),
      of('time_of_day', courses.timeOfDayId),
      of('duration_value', courses.durationValue),
      of('duration_unit', courses.durationUnitId),
      of('price_value', courses.priceValue),
      of('price_currency', courses.priceCurrency),
      of('price_comment', courses.priceComment),
      of('text_lead', courses.textLead),
      of('text_description', courses.textDescription),
      of('text_place', courses.textPlace),
      of('text_prerequisites', courses.textPrerequisites),
      of('text_duration', courses.textDuration),
      of('text_credits', courses.textCredits),
      of('text_submissions', courses.textSubmissions),
      of('text_hotel_info', courses.textHotelInfo),
      of('text_audience', courses.textAudience),
      of('email_booking', courses.emailBooking),
      of('email_more_info', courses.emailMoreInfo),
      of('external_booking_url', courses.externalBookingUrl),
      of('external_more_info_url', courses.externalMoreInfoUrl),
      of('type', courses.type),
      of('publishing_platform', courses.publishingPlatform),
      of('visit_address', courses.visitAddress),
      of('visit_address2', courses.visitAddress2),
      of('visit_zipcode', courses.visitZipcode),
      of('visit_city', courses.visitCity),
      of('custom_properties', courses.customProperties),
    ]),
    reference_internal: field(courses.referenceInternal, Optional(Line())),
    customer_id: refersTo('customer', courses.customerId),
    deleted_at: field(courses.deletedAt, Optional(Moment())),
  },
  derived: { slug: courses.slug, related_items_updated_at: courses.relatedItemsUpdatedAt },
  computed: { related_items_updated_at: 'v.created_at' },
  parts: {
    tags: { form: 'links', owner: courseTags.courseId, other: courseTags.tagId, to: 'tag' },
    labels: { form: 'links', owner: courseLabels.courseId, other: courseLabels.labelId, to: 'label' },
    categories: {
      form: 'links',
      owner: courseCategories.courseId,
      other: courseCategories.categoryId,
      to: 'category',
    },
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
    checkTogether(fields);
    const { title, price_value: price = 0, price_currency: currency } = fields;
    fields['products'] ??= [{ title, price: String(price), currency, is_main_product: true }];
    return { slug: slugOf(title as string) };
  },
};

/** What can only be checked field against field. */
function checkTogether({
  duration_value: value,
  duration_unit: unit,
  type,
  customer_id: customerId,
  products = [],
}: Fields) {
  const missing = [
    ...(value === undefined && unit !== undefined ? ['duration_value'] : []),
    ...(value !== undefined && unit === undefined ? ['duration_unit'] : []),
    ...(type === 'corporate' && customerId === undefined ? ['customer_id'] : []),
  ];
  const mains = (products as Fields[]).filter(({ is_main_product: isMain }) => isMain === true).length;
  const notValid = [
    ...(type !== 'corporate' && customerId !== undefined ? ['customer_id'] : []),
    ...(products !== undefined && (products as Fields[]).length > 0 && mains !== 1 ? ['products'] : []),
  ];
  if (missing.length + notValid.length > 0) throw invalidFields({ missing, notValid });
}
