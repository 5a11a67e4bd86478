import fc from 'fast-check';
import { toSingleLine } from '../../../src/core/text.ts';
import { expect, test } from 'vitest';
import { dialects, encodeBody, omitVolatile, contentTypeHeader, type Fields } from '../../support/request-bodies.ts';
import { runs } from '../../support/property-runs.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

const levels = { 1: 'University', 6: 'Courses', 10: 'Folk High School', 21: 'Event' };
const forms = { 1: 'Classroom', 5: 'Others', 19: 'Virtual or in-person', 22: 'Webinar + online course' };
const languages = { no: 'Norwegian', 'ch-ZN': 'Chinese Simplified', sgn: 'Sign language', 'sv-SE': 'Swedish' };
const times = { 1: 'Daytime', 2: 'Evening class', 3: 'Weekend course' };
const units: Record<number, [code: string, one: string, many: string]> = {
  1: ['days', 'Day', 'Days'],
  2: ['weeks', 'Week', 'Weeks'],
  3: ['months', 'Month', 'Months'],
  4: ['semester', 'Semester', 'Semester'],
  5: ['years', 'Year', 'Years'],
  6: ['hours', 'Hour', 'Hours'],
  7: ['minutes', 'Minute', 'Minutes'],
};
const descriptions = {
  lead: 'text_lead',
  description: 'text_description',
  place: 'text_place',
  prerequisites: 'text_prerequisites',
  duration: 'text_duration',
  credits: 'text_credits',
  submissions: 'text_submissions',
  hotelInfo: 'text_hotel_info',
  audience: 'text_audience',
} as const;

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const idOf = (table: object) => optional(fc.constantFrom(...Object.keys(table).map(Number)));
const storable = (text: string) => text.isWellFormed() && !/[\0\ufffd]/.test(text);
const text = (maxLength: number, minLength = 0) =>
  fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength, maxLength }),
      fc.string({ unit: 'binary', minLength, maxLength }),
      fc.constantFrom('<b>x</b>', "';--", '${1}', '100 %', 'a+b&c=d', '\r\nx\n', ' x ', '[1]', '{"a":1}', 'null', '0'),
    )
    .filter((value) => storable(value) && value.length >= minLength);
const flag = optional(fc.boolean());
const email = optional(fc.constantFrom('a@b.example', 'Ø.user+tag@school.example'));
const url = optional(fc.constantFrom('https://a.example/?q=1&r=%20#x', 'HTTP://b.example'));
const isLine = (value: string) => toSingleLine(value) === value;
const line = optional(text(40).filter(isLine));
const html = optional(text(200));

const course = fc.record({
  title: text(40).filter((value) => isLine(value) && value.normalize('NFC') === value),
  active: flag,
  reference: line,
  is_full_time: flag,
  is_part_time: flag,
  level: idOf(levels),
  form_of_teaching: idOf(forms),
  teaching_language: optional(fc.constantFrom(...(Object.keys(languages) as (keyof typeof languages)[]))),
  time_of_day: idOf(times),
  duration: optional(
    fc.record({ value: fc.oneof(fc.constantFrom(0, 1), fc.nat()), unit: fc.integer({ min: 1, max: 7 }) }),
  ),
  price_value: optional(fc.nat()),
  price_currency: optional(fc.constantFrom('NOK', 'eur', 'Usd')),
  price_comment: line,
  texts: fc.record({
    ...{ lead: html, description: html, place: html, prerequisites: html, duration: html },
    ...{ credits: html, submissions: html, hotelInfo: html, audience: html },
  }),
  email_booking: email,
  email_more_info: email,
  external_booking_url: url,
  external_more_info_url: url,
  type: optional(fc.constantFrom('public', 'internal')),
  publishing_platform: optional(fc.constantFrom('both', 'catalog', 'own')),
  visit_address: line,
  visit_address2: line,
  visit_zipcode: line,
  visit_city: line,
  tags: optional(fc.uniqueArray(fc.constantFrom('Alpha', 'Beta', 'Gamma 🚑'), { minLength: 1 })),
  custom_properties: optional(fc.dictionary(fc.constantFrom('a', 'cost centre', 'ø'), text(20), { minKeys: 1 })),
  translations: optional(fc.dictionary(fc.constantFrom('da', 'en'), fc.record({ lead: text(40, 1) }), { minKeys: 1 })),
});
type CourseInput = typeof course extends fc.Arbitrary<infer T> ? T : never;

let created = 0;
const toSent = ({ duration, texts, tags, title, ...rest }: CourseInput): Fields & { title: string } => ({
  ...rest,
  title: `${(created += 1)} ${title}`,
  duration_value: duration?.value,
  duration_unit: duration?.unit,
  ...Object.fromEntries(
    Object.entries(descriptions).map(([member, name]) => [name, texts[member as keyof typeof texts]]),
  ),
  tags: tags?.map((title) => ({ title })),
});

const orNull = (value: string | undefined) => (value === undefined || value === '' ? null : value);

/** The Course that the interface document specifies for this input. */
function expectedOf(input: CourseInput, title: string): Fields {
  const titled = (table: Record<number, string>, id: number) => ({ id, title: table[id] });
  const { duration, teaching_language = 'no', time_of_day, custom_properties = {}, translations = {} } = input;
  const properties = Object.entries(custom_properties).filter(([, value]) => value !== '');
  const unit = duration && units[duration.unit];
  return {
    title: title.trim(),
    reference: orNull(input.reference),
    is_active: input.active ?? true,
    is_full_time: input.is_full_time ?? false,
    is_part_time: input.is_part_time ?? false,
    lessons_hours: null,
    type: input.type ?? 'public',
    level: titled(levels, input.level ?? 6),
    form_of_teaching: titled(forms, input.form_of_teaching ?? 1),
    teaching_language: { id: teaching_language, title: languages[teaching_language] },
    time_of_day: time_of_day === undefined ? null : titled(times, time_of_day),
    publishing_platform: input.publishing_platform ?? 'both',
    duration:
      duration && unit ? { value: duration.value, code: unit[0], unit: unit[duration.value === 1 ? 1 : 2] } : null,
    price: {
      value: input.price_value ?? 0,
      currency: (input.price_currency ?? 'NOK').toUpperCase(),
      comment: orNull(input.price_comment),
    },
    categories: [],
    external_booking_url: input.external_booking_url ?? null,
    external_more_info_url: input.external_more_info_url ?? null,
    descriptions: Object.fromEntries(
      Object.keys(descriptions).map((member) => [member, input.texts[member as keyof typeof input.texts] ?? '']),
    ),
    lead_settings: { email_booking: input.email_booking ?? '', email_more_info: input.email_more_info ?? '' },
    tags: [...(input.tags ?? [])].sort(),
    custom_properties: properties.length === 0 ? null : Object.fromEntries(properties),
    description_languages: Object.keys(translations).sort(),
    visit_address: orNull(input.visit_address),
    visit_address2: orNull(input.visit_address2),
    visit_zipcode: orNull(input.visit_zipcode),
    visit_city: orNull(input.visit_city),
    deleted_at: null,
  };
}

test('a course is returned as it was sent, in every body format', async () => {
  const makers = await Promise.all(dialects.map(async (dialect) => ({ dialect, me: await createProvider() })));
  const check = async (input: CourseInput) => {
    const sent = toSent(input);
    for (const { dialect, me } of makers) {
      const response = await me.post('/v2/courses', encodeBody(dialect, sent), contentTypeHeader(dialect));
      expect(response.status, `${dialect}: ${response.text}`).toBe(201);
      const id = response.json<{ course_id: number }>().course_id;
      const [read] = (await me.get(`/v2/courses?limit=1&since_id=${id - 1}`)).json<Fields[]>();
      expect(omitVolatile(read!), dialect).toEqual(expectedOf(input, sent.title));
      expect(read).toMatchObject({
        id,
        updated_at: read!['created_at'],
        catalog_url: expect.stringMatching(/^https:\/\/catalog\.example\/[a-z0-9-]+$/) as string,
      });
    }
  };
  await fc.assert(fc.asyncProperty(course, check), { numRuns: runs() });
});

test('a translated course is returned in the requested language, others in their own', async () => {
  const me = await createProvider();
  const check = async (input: CourseInput, language: string) => {
    const id = await me.course(toSent(input));
    const response = await me.get(`/v2/courses?limit=1&since_id=${id - 1}&description_language=${language}`);
    const [read] = response.json<{ descriptions: { lead: string } }[]>();
    expect(read!.descriptions.lead).toBe(input.translations?.[language]?.lead ?? input.texts.lead ?? '');
  };
  await fc.assert(fc.asyncProperty(course, fc.constantFrom('da', 'en', 'fi'), check), { numRuns: runs(0.5) });
});
