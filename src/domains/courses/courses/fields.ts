import { Type, type Static, type TSchema } from '@sinclair/typebox';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { units } from '../../../core/reference/courses.ts';
import * as codes from '../../../core/schema/codes.ts';
import { t } from '../../../core/schema/types.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { Ctx } from '../../../database/context.ts';
import { courses as c } from '../../../database/tables/courses.ts';
import { fieldsOf } from '../../../lists/fields.ts';
import { toKey } from '../../../lists/input-aliases.ts';
import { Tag, TagInputs } from '../tags/fields.ts';
import {
  Category,
  CourseDuration,
  CourseType,
  descriptionMembers,
  Descriptions,
  LeadSettings,
  openPrice,
  Price,
  PublishingPlatform,
  toCourseDuration,
  toDescriptions,
  type Member,
  type Texts,
} from './schema.ts';

export type CourseRow = typeof c.$inferSelect;

const { define, shownTo, open, shared, closed, written, imported } = fieldsOf<CourseRow>();
/** Partners do not see the tags of another school. */
const publicTags = shownTo(t.member.access({ data: 'operational', publishable: true }));

const { Optional } = Type;
const text = Type.String();
const flag = (description: string) => Optional(Type.Boolean({ description }));
const html = (column: PgColumn, description: string, member: Member) =>
  written(column, Optional(t.Html({ description })), { reads: [`descriptions.${member}`] });
const url = (description: string) => Optional(t.Url({ description }));

type MemberTexts<T> = Partial<Record<Member, T>>;
const TextsOf = (name: string, text: TSchema) =>
  t.NamedObject(name, Object.fromEntries(Object.keys(descriptionMembers).map((member) => [member, Optional(text)])));
const Translations = <T>(name: string, texts: TSchema, description: string) =>
  t.NamedRecord<T>(name, codes.teachingLanguage.Code, texts, { description });

const completionShare = Type.Number({
  minimum: 0,
  maximum: 1,
  multipleOf: 0.001,
  description: 'Share of the gatherings that completes the course once the last has ended; only by hand unless sent',
});

const fields = define(
  {
    id: open(c.id),
    title: open(
      c.title,
      t.Title({
        description: 'Unique among the active courses, without regard to case, blanks, apostrophes and hyphens',
      }),
    ),
    active: written(
      c.isActive,
      t.withDefault(Type.Boolean({ description: 'false: hidden, and cannot be booked' }), true),
      { reads: ['is_active'] },
    ),
    reference: closed.line(c.reference, 'Internal reference'),
    is_active: shared(c.isActive),
    catalog_url: open.value(t.Nullable(text)),
    is_full_time: open(c.isFullTime, flag('true: full-time'), { shown: Type.Boolean() }),
    is_part_time: open(c.isPartTime, flag('true: part-time'), { shown: Type.Boolean() }),
    lessons_hours: shared.value(Type.Null()),
    level: open(c.levelId, t.withDefault(codes.level.Code, 6), { shown: codes.level.Item, reads: ['level.id'] }),
    form_of_teaching: open(c.formOfTeachingId, t.withDefault(codes.formOfTeaching.Code, 1), {
      shown: codes.formOfTeaching.Item,
      reads: ['form_of_teaching.id'],
    }),
    teaching_language: open(c.teachingLanguageId, t.withDefault(codes.teachingLanguage.Code, 'no'), {
      shown: codes.teachingLanguage.Item,
      reads: ['teaching_language.id'],
    }),
    time_of_day: open(c.timeOfDayId, Optional(codes.timeOfDay.Code), {
      shown: t.Nullable(codes.timeOfDay.Item),
      reads: ['time_of_day.id'],
    }),
    duration: open.value(t.Nullable(CourseDuration)),
    duration_value: written(
      c.durationValue,
      Optional(t.Count({ description: 'Length in duration_unit; both or neither' })),
      { reads: ['duration.value'] },
    ),
    duration_unit: written(c.durationUnitId, Optional(codes.DurationUnitId), {
      reads: [['duration.code', toKey([...units].map(([id, { code }]) => [id, code]))]],
    }),
    price: shownTo(openPrice).value(Price),
    price_value: written(
      c.priceValue,
      Optional(t.Count({ description: 'Price of the main product without VAT, a whole number' })),
      { reads: ['price.value'] },
    ),
    price_currency: written(c.priceCurrency, t.withDefault(codes.CurrencyCode, 'NOK'), { reads: ['price.currency'] }),
    price_comment: written.note(c.priceComment, 'Text beside the price', 'price.comment'),
    categories: open.value(Type.Array(Category)),
    tags: publicTags.value(Type.Array(Tag), undefined, Optional(TagInputs('Ids or titles; a new title creates a tag'))),
    labels: written.value(Optional(TagInputs('Ids or titles of internal labels'))),
    text_lead: html(c.textLead, 'Introduction', 'lead'),
    text_description: html(c.textDescription, 'Description', 'description'),
    text_place: html(c.textPlace, 'Where it takes place', 'place'),
    text_prerequisites: html(c.textPrerequisites, 'Prerequisites', 'prerequisites'),
    text_duration: html(c.textDuration, 'Duration in words', 'duration'),
    text_credits: html(c.textCredits, 'Credits', 'credits'),
    text_submissions: html(c.textSubmissions, 'Assignments to hand in', 'submissions'),
    text_hotel_info: html(c.textHotelInfo, 'Hotels', 'hotelInfo'),
    text_audience: html(c.textAudience, 'Audience', 'audience'),
    email_booking: written.email(
      c.emailBooking,
      'Where notices to the school go unless the location of the date has an address',
      'lead_settings.email_booking',
    ),
    email_more_info: written.email(c.emailMoreInfo, 'E-mail address for questions', 'lead_settings.email_more_info'),
    external_booking_url: open(c.externalBookingUrl, url('Booking page on another website')),
    external_more_info_url: open(c.externalMoreInfoUrl, url('Page with more information on another website')),
    descriptions: open.value(Descriptions),
    lead_settings: closed.value(LeadSettings),
    type: shared(c.type, t.withDefault(CourseType, 'public'), {
      shown: Type.String({ description: CourseType.description }),
    }),
    publishing_platform: shared(c.publishingPlatform, t.withDefault(PublishingPlatform, 'both'), {
      shown: Type.String({ description: PublishingPlatform.description }),
    }),
    description_languages: open.value(Type.Array(text)),
    visit_address: open.line(c.visitAddress, 'Street address of the visitors, first line'),
    visit_address2: open.line(c.visitAddress2, 'Second line'),
    visit_zipcode: open.line(c.visitZipcode, 'Postal code'),
    visit_city: open.line(c.visitCity, 'City'),
    custom_properties: closed(
      c.customProperties,
      Optional({ ...t.CustomProperties, description: 'Further values of your own' }),
      { shown: t.Nullable(t.CustomProperties) },
    ),
    completion_min_share: written(c.completionMinShare, Optional(completionShare)),
    translations: written.value(
      Optional(
        Translations<MemberTexts<string>>(
          'CourseTranslations',
          TextsOf('CourseTexts', t.Html()),
          'Texts by language code',
        ),
      ),
    ),
    reference_internal: imported(c.referenceInternal),
    customer_id: written(c.customerId, Optional({ ...t.Id, description: 'The customer of a corporate course' }), {
      to: 'customer',
    }),
    created_at: shared(c.createdAt, undefined, { shown: t.Nullable(t.DateTime) }),
    updated_at: open(c.updatedAt, undefined, { shown: t.Nullable(t.DateTime) }),
    deleted_at: closed(c.deletedAt, undefined, { imported: true }),
    related_items_updated_at: shared(c.relatedItemsUpdatedAt),
  },
  {
    answer:
      'type level form_of_teaching teaching_language time_of_day publishing_platform duration price categories ' +
      'external_booking_url external_more_info_url descriptions lead_settings tags custom_properties ' +
      'description_languages visit_address visit_address2 visit_zipcode visit_city created_at updated_at deleted_at ' +
      'related_items_updated_at',
    body:
      'customer_id visit_address visit_address2 visit_zipcode visit_city custom_properties completion_min_share ' +
      'translations',
  },
);
export const importedCourse = fields.imported;
export const { inputAliases } = fields;

export type Course = Static<typeof Course>;
export const Course = fields.schema('Course');

/** A course inside a course date, or inside a line of an order. */
export type EmbeddedCourse = Static<typeof EmbeddedCourse>;
export const EmbeddedCourse = fields.schema('EmbeddedCourse', [
  ...(['descriptions', 'description_languages', 'lead_settings', 'publishing_platform'] as const),
  ...(['created_at', 'updated_at', 'deleted_at', 'related_items_updated_at'] as const),
]);

const example = {
  title: 'First aid for climbers',
  price_value: 1900,
  duration_value: 1,
  duration_unit: 1,
  text_lead: 'One day on the wall with a paramedic.',
};

/** POST /v2/courses. */
export type CourseBody = Static<typeof CourseBody>;
export const CourseBody = fields.body('CourseCreate', { examples: [{ ...example, tags: [{ title: 'Outdoor' }] }] });

const legacy = Type.Omit(CourseBody, [
  ...(['tags', 'labels', 'external_booking_url', 'external_more_info_url', 'type', 'publishing_platform'] as const),
  ...(['customer_id', 'visit_address', 'visit_address2', 'visit_zipcode', 'visit_city'] as const),
  ...(['custom_properties', 'completion_min_share', 'translations'] as const),
]);
/** POST {legacy_base_url}/courses. */
export const LegacyCourseBody = t.NamedObject('LegacyCourseCreate', legacy.properties, { examples: [example] });

/** PUT /v2/courses/:id. A partial update of each translation, too. */
export type CourseChange = Static<typeof CourseChange>;
export const CourseChange = fields.update(
  'CourseUpdate',
  { examples: [{ price_value: 2100, tags: [{ title: 'Outdoor' }] }] },
  {
    translations: Optional(
      Translations<MemberTexts<string | null> | null>(
        'CourseTranslationsUpdate',
        t.Nullable(TextsOf('CourseTextsUpdate', t.Nullable(t.Html()))),
        'Language code to the members of `descriptions` in that language',
      ),
    ),
  },
);

/** A course without its long texts. */
export type EmbeddedCourseRow = Omit<CourseRow, (typeof descriptionMembers)[Member]>;

type EmbeddedCourseRelations = {
  categories: (Static<typeof Category> & { slug: string })[];
  tags: Static<typeof Tag>[];
  toUrl: (course: { id: number; slug: string; category: string | undefined; isPublic: boolean }) => string | null;
};
type CourseRelations = EmbeddedCourseRelations & { description_languages: string[]; translation: Texts | null };

/** `isPublicCourse` for a loaded row. */
const isPublic = ({ isActive, type, publishingPlatform, deletedAt }: EmbeddedCourseRow) =>
  isActive && type === 'public' && publishingPlatform !== 'own' && deletedAt === null;

export function toEmbeddedCourse(row: EmbeddedCourseRow, relations: EmbeddedCourseRelations, ctx: Ctx): EmbeddedCourse {
  const { language } = ctx;
  return {
    id: row.id,
    title: row.title,
    reference: row.reference,
    is_active: row.isActive,
    catalog_url: relations.toUrl({
      id: row.id,
      slug: row.slug,
      category: relations.categories[0]?.slug,
      isPublic: isPublic(row),
    }),
    is_full_time: row.isFullTime ?? false,
    is_part_time: row.isPartTime ?? false,
    lessons_hours: null,
    type: row.type,
    level: codes.level.toItem(row.levelId, language),
    form_of_teaching: codes.formOfTeaching.toItem(row.formOfTeachingId, language),
    teaching_language: codes.teachingLanguage.toItem(row.teachingLanguageId, language),
    time_of_day: row.timeOfDayId === null ? null : codes.timeOfDay.toItem(row.timeOfDayId, language),
    duration: toCourseDuration(row.durationValue, row.durationUnitId, ctx),
    price: { value: Number(row.priceValue ?? 0), currency: row.priceCurrency, comment: row.priceComment },
    categories: relations.categories,
    external_booking_url: row.externalBookingUrl,
    external_more_info_url: row.externalMoreInfoUrl,
    tags: relations.tags,
    custom_properties: row.customProperties,
    visit_address: row.visitAddress,
    visit_address2: row.visitAddress2,
    visit_zipcode: row.visitZipcode,
    visit_city: row.visitCity,
  };
}

// Object.assign: a spread of this many fields takes ten times as long.
export const toCourse = (row: CourseRow, relations: CourseRelations, ctx: Ctx): Course =>
  Object.assign(toEmbeddedCourse(row, relations, ctx), {
    publishing_platform: row.publishingPlatform,
    descriptions: toDescriptions(relations.translation ?? row),
    description_languages: relations.description_languages,
    lead_settings: { email_booking: row.emailBooking, email_more_info: row.emailMoreInfo },
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
    deleted_at: formatTimestamp(row.deletedAt),
    related_items_updated_at: formatTimestamp(row.relatedItemsUpdatedAt),
  });
