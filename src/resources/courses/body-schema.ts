import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { partialUpdate } from '../../schema/partial-update.ts';
import {
  Count,
  CustomProperties,
  withDefault,
  Email,
  Flag,
  Html,
  Id,
  JsonList,
  Line,
  Note,
  Nullable,
  OneOf,
  Read,
  Title,
  UpperCode,
  Url,
} from '../../schema/types.ts';
import { formsOfTeaching, levels, teachingLanguageCodes, timesOfDay } from '../../reference/courses.ts';
import { currencyCodes } from '../../reference/currencies.ts';
import { durationUnits } from '../../reference/durations.ts';
import { descriptionMembers } from './schema.ts';

const { Optional } = Type;

/** What both interfaces take for a new course. */
const common = {
  title: Title(),
  active: withDefault(Flag(), true),
  reference: Optional(Line()),
  is_full_time: Optional(Flag()),
  is_part_time: Optional(Flag()),
  level: withDefault(OneOf([...levels.keys()]), 6),
  form_of_teaching: withDefault(OneOf([...formsOfTeaching.keys()]), 1),
  teaching_language: withDefault(OneOf(teachingLanguageCodes), 'no'),
  time_of_day: Optional(OneOf([...timesOfDay.keys()])),
  duration_value: Optional(Count()),
  duration_unit: Optional(OneOf([...durationUnits.keys()])),
  price_value: Optional(Count()),
  price_currency: withDefault(UpperCode(currencyCodes), 'NOK'),
  price_comment: Optional(Note()),
};
const texts = {
  text_lead: Optional(Html()),
  text_description: Optional(Html()),
  text_place: Optional(Html()),
  text_prerequisites: Optional(Html()),
  text_duration: Optional(Html()),
  text_credits: Optional(Html()),
  text_submissions: Optional(Html()),
  text_hotel_info: Optional(Html()),
  text_audience: Optional(Html()),
  email_booking: Optional(Email()),
  email_more_info: Optional(Email()),
};

/** A tag or label: the id of one of the provider's own, or `{id}`, or `{title}`, which is found or made. */
const TagInput = Type.Union([
  Id,
  Type.Object(
    { id: Optional(Id), title: Optional(Title()) },
    { if: { required: ['id'] }, else: { required: ['title'] } },
  ),
]);
export type TagInput = Static<typeof TagInput>;

type Texts<T> = Partial<Record<keyof typeof descriptionMembers, T>>;
const getTexts = (text: TSchema) =>
  Type.Object(Object.fromEntries(Object.keys(descriptionMembers).map((member) => [member, Optional(text)])));
const Translations = <T>(texts: TSchema) =>
  Type.Unsafe<Record<string, T>>({
    type: 'object',
    maxProperties: teachingLanguageCodes.length,
    propertyNames: { enum: teachingLanguageCodes },
    additionalProperties: texts,
    description: 'Language code to the members of `descriptions` in that language',
    [Read]: 'json',
  });

/** What the page to try it begins with. */
const example = {
  title: 'First aid for climbers',
  price_value: 1900,
  duration_value: 1,
  duration_unit: 1,
  text_lead: 'One day on the wall with a paramedic.',
};

/** POST {legacy_base_url}/courses. */
export const LegacyCourseBody = Type.Object({ ...common, ...texts }, { examples: [example] });

/** POST /v2/courses. */
export type CourseBody = Static<typeof CourseBody>;
export const CourseBody = Type.Object(
  {
    ...common,
    tags: Optional(JsonList(TagInput, { maxItems: 100 })),
    labels: Optional(JsonList(TagInput, { maxItems: 100 })),
    ...texts,
    external_booking_url: Optional(Url()),
    external_more_info_url: Optional(Url()),
    type: withDefault(OneOf(['public', 'internal', 'corporate']), 'public'),
    publishing_platform: withDefault(OneOf(['both', 'catalog', 'own']), 'both'),
    customer_id: Optional(Id),
    visit_address: Optional(Line()),
    visit_address2: Optional(Line()),
    visit_zipcode: Optional(Line()),
    visit_city: Optional(Line()),
    custom_properties: Optional(CustomProperties),
    translations: Optional(Translations<Texts<string>>(getTexts(Html()))),
  },
  { examples: [{ ...example, tags: '[{"title":"Outdoor"}]' }] },
);

/** PUT /v2/courses/:id. In a translation, too, what is not sent keeps its value and what is sent empty is cleared. */
export type CourseChange = Static<typeof CourseChange>;
export const CourseChange = Type.Object(
  {
    ...partialUpdate(CourseBody.properties),
    translations: Optional(Nullable(Translations<Texts<string | null> | null>(Nullable(getTexts(Nullable(Html())))))),
  },
  { examples: [{ price_value: 2100, tags: '[{"title":"Outdoor"}]' }] },
);
