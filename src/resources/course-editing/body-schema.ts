import { Type, type Static, type TSchema } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import { coercionKind, t } from '../../core/schema/types.ts';
import { courses } from '../../database/tables/courses.ts';
import { teachingLanguageCodes } from '../../core/reference/courses.ts';
import {
  courseTypes,
  descriptionMembers,
  platformDescription,
  publishingPlatforms,
  typeDescription,
} from '../courses/schema.ts';

const { Optional } = Type;

const CourseType = t.named('CourseType', t.OneOf(courseTypes));
const PublishingPlatform = t.named('PublishingPlatform', t.OneOf(publishingPlatforms));

/** Fields of a new course in both interfaces. */
const common = t.describeFields(
  {
    title: t.stored(courses.title, t.Title()),
    active: t.stored(courses.isActive, t.withDefault(t.Flag(), true)),
    reference: t.stored(courses.reference, Optional(t.Line())),
    is_full_time: t.stored(courses.isFullTime, Optional(t.Flag())),
    is_part_time: t.stored(courses.isPartTime, Optional(t.Flag())),
    level: t.stored(courses.levelId, t.withDefault(codes.level.Code, 6)),
    form_of_teaching: t.stored(courses.formOfTeachingId, t.withDefault(codes.formOfTeaching.Code, 1)),
    teaching_language: t.stored(courses.teachingLanguageId, t.withDefault(codes.teachingLanguage.Code, 'no')),
    time_of_day: t.stored(courses.timeOfDayId, Optional(codes.timeOfDay.Code)),
    duration_value: t.stored(courses.durationValue, Optional(t.Count())),
    duration_unit: t.stored(courses.durationUnitId, Optional(codes.DurationUnitId)),
    price_value: t.stored(courses.priceValue, Optional(t.Count())),
    price_currency: t.stored(courses.priceCurrency, t.withDefault(codes.CurrencyCode, 'NOK')),
    price_comment: t.stored(courses.priceComment, Optional(t.Note())),
  },
  {
    title: 'Unique among the active courses, without regard to case, blanks, apostrophes and hyphens',
    active: 'false: hidden, and cannot be booked',
    reference: 'Internal reference',
    is_full_time: 'true: full-time',
    is_part_time: 'true: part-time',
    duration_value: 'Length in duration_unit; both or neither',
    price_value: 'Price of the main product, a whole number',
    price_comment: 'Text beside the price',
  },
);
const texts = t.describeFields(
  {
    text_lead: t.stored(courses.textLead, Optional(t.Html())),
    text_description: t.stored(courses.textDescription, Optional(t.Html())),
    text_place: t.stored(courses.textPlace, Optional(t.Html())),
    text_prerequisites: t.stored(courses.textPrerequisites, Optional(t.Html())),
    text_duration: t.stored(courses.textDuration, Optional(t.Html())),
    text_credits: t.stored(courses.textCredits, Optional(t.Html())),
    text_submissions: t.stored(courses.textSubmissions, Optional(t.Html())),
    text_hotel_info: t.stored(courses.textHotelInfo, Optional(t.Html())),
    text_audience: t.stored(courses.textAudience, Optional(t.Html())),
    email_booking: t.stored(courses.emailBooking, Optional(t.Email())),
    email_more_info: t.stored(courses.emailMoreInfo, Optional(t.Email())),
  },
  {
    text_lead: 'Introduction',
    text_description: 'Description',
    text_place: 'Where it takes place',
    text_prerequisites: 'Prerequisites',
    text_duration: 'Duration in words',
    text_credits: 'Credits',
    text_submissions: 'Assignments to hand in',
    text_hotel_info: 'Hotels',
    text_audience: 'Audience',
    email_booking: 'E-mail address for bookings',
    email_more_info: 'E-mail address for questions',
  },
);

/** A tag or label: an own id, `{id}`, or `{title}`, which is created if missing. */
const TagInput = Type.Union([
  t.Id,
  t.NamedObject(
    'CourseTagInput',
    { id: Optional(t.Id), title: Optional(t.Title()) },
    { if: { properties: { id: {} }, required: ['id'] }, else: { properties: { title: {} }, required: ['title'] } },
  ),
]);
export type TagInput = Static<typeof TagInput>;

type Texts<T> = Partial<Record<keyof typeof descriptionMembers, T>>;
const TextsOf = (text: TSchema) =>
  Type.Object(Object.fromEntries(Object.keys(descriptionMembers).map((member) => [member, Optional(text)])));
const Translations = <T>(texts: TSchema) =>
  Type.Unsafe<Record<string, T>>({
    type: 'object',
    maxProperties: teachingLanguageCodes.length,
    propertyNames: codes.teachingLanguage.Code,
    additionalProperties: texts,
    description: 'Language code to the members of `descriptions` in that language',
    [coercionKind]: 'json',
  });

const example = {
  title: 'First aid for climbers',
  price_value: 1900,
  duration_value: 1,
  duration_unit: 1,
  text_lead: 'One day on the wall with a paramedic.',
};

/** POST {legacy_base_url}/courses. */
export const LegacyCourseBody = t.NamedObject('LegacyCourseCreate', { ...common, ...texts }, { examples: [example] });

/** POST /v2/courses. */
export type CourseBody = Static<typeof CourseBody>;
export const CourseBody = t.NamedObject(
  'CourseCreate',
  t.describeFields(
    {
      ...common,
      tags: Optional(t.JsonList(TagInput, { maxItems: 100 })),
      labels: Optional(t.JsonList(TagInput, { maxItems: 100 })),
      ...texts,
      external_booking_url: t.stored(courses.externalBookingUrl, Optional(t.Url())),
      external_more_info_url: t.stored(courses.externalMoreInfoUrl, Optional(t.Url())),
      type: t.stored(courses.type, t.withDefault(CourseType, 'public')),
      publishing_platform: t.stored(courses.publishingPlatform, t.withDefault(PublishingPlatform, 'both')),
      customer_id: t.stored(courses.customerId, Optional(t.Id), 'customer'),
      visit_address: t.stored(courses.visitAddress, Optional(t.Line())),
      visit_address2: t.stored(courses.visitAddress2, Optional(t.Line())),
      visit_zipcode: t.stored(courses.visitZipcode, Optional(t.Line())),
      visit_city: t.stored(courses.visitCity, Optional(t.Line())),
      custom_properties: t.stored(courses.customProperties, Optional(t.CustomProperties)),
      translations: Optional(Translations<Texts<string>>(TextsOf(t.Html()))),
    },
    {
      tags: 'Ids or titles; a new title creates a tag',
      labels: 'Ids or titles of internal labels',
      external_booking_url: 'Booking page on another website',
      external_more_info_url: 'Page with more information on another website',
      type: typeDescription,
      publishing_platform: platformDescription,
      customer_id: 'The customer of a corporate course',
      visit_address: 'Street address of the visitors, first line',
      visit_address2: 'Second line',
      visit_zipcode: 'Postal code',
      visit_city: 'City',
      custom_properties: 'Further values of your own',
      translations: 'Texts by language code',
    },
  ),
  { examples: [{ ...example, tags: [{ title: 'Outdoor' }] }] },
);

/** PUT /v2/courses/:id. A partial update of each translation, too. */
export type CourseChange = Static<typeof CourseChange>;
export const CourseChange = t.NamedObject(
  'CourseUpdate',
  {
    ...t.partialUpdate(CourseBody.properties),
    translations: Optional(
      t.Nullable(Translations<Texts<string | null> | null>(t.Nullable(TextsOf(t.Nullable(t.Html()))))),
    ),
  },
  { examples: [{ price_value: 2100, tags: [{ title: 'Outdoor' }] }] },
);
