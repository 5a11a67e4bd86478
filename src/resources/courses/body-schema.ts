import { Type, type Static, type TSchema } from '@sinclair/typebox';
import * as codes from '../../core/schema/codes.ts';
import * as t from '../../core/schema/types.ts';
import * as reference from '../../core/reference/courses.ts';
import * as durations from '../../core/reference/durations.ts';
import {
  courseTypes,
  descriptionMembers,
  platformDescription,
  publishingPlatforms,
  typeDescription,
} from './schema.ts';

const { Optional } = Type;

const CourseType = t.named('CourseType', t.OneOf(courseTypes));
const PublishingPlatform = t.named('PublishingPlatform', t.OneOf(publishingPlatforms));

const Level = codes.Code('CourseLevelId', reference.levels);
const FormOfTeaching = codes.Code('FormOfTeachingId', reference.formsOfTeaching);
const TimeOfDay = codes.Code('TimeOfDayId', reference.timesOfDay);
const DurationUnit = codes.Code('DurationUnitId', new Map([...durations.units].map(([id, { many }]) => [id, many.en])));

/** Fields of a new course in both interfaces. */
const common = t.describeFields(
  {
    title: t.Title(),
    active: t.withDefault(t.Flag(), true),
    reference: Optional(t.Line()),
    is_full_time: Optional(t.Flag()),
    is_part_time: Optional(t.Flag()),
    level: t.withDefault(Level, 6),
    form_of_teaching: t.withDefault(FormOfTeaching, 1),
    teaching_language: t.withDefault(codes.TeachingLanguageCode, 'no'),
    time_of_day: Optional(TimeOfDay),
    duration_value: Optional(t.Count()),
    duration_unit: Optional(DurationUnit),
    price_value: Optional(t.Count()),
    price_currency: t.withDefault(codes.CurrencyCode, 'NOK'),
    price_comment: Optional(t.Note()),
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
    text_lead: Optional(t.Html()),
    text_description: Optional(t.Html()),
    text_place: Optional(t.Html()),
    text_prerequisites: Optional(t.Html()),
    text_duration: Optional(t.Html()),
    text_credits: Optional(t.Html()),
    text_submissions: Optional(t.Html()),
    text_hotel_info: Optional(t.Html()),
    text_audience: Optional(t.Html()),
    email_booking: Optional(t.Email()),
    email_more_info: Optional(t.Email()),
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
    maxProperties: reference.teachingLanguageCodes.length,
    propertyNames: codes.TeachingLanguageCode,
    additionalProperties: texts,
    description: 'Language code to the members of `descriptions` in that language',
    [t.coercionKind]: 'json',
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
      external_booking_url: Optional(t.Url()),
      external_more_info_url: Optional(t.Url()),
      type: t.withDefault(CourseType, 'public'),
      publishing_platform: t.withDefault(PublishingPlatform, 'both'),
      customer_id: Optional(t.Id),
      visit_address: Optional(t.Line()),
      visit_address2: Optional(t.Line()),
      visit_zipcode: Optional(t.Line()),
      visit_city: Optional(t.Line()),
      custom_properties: Optional(t.CustomProperties),
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
