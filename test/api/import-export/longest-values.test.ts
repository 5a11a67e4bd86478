import type { TSchema } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { Title } from '../../../src/core/schema/types.ts';
import { isBulk, type Item } from '../../../src/plugins/transfer/record-type.ts';
import { recordTypes } from '../../../src/plugins/transfer/record-types/index.ts';
import { AdminUserBody } from '../../../src/domains/school/admin-users/fields.ts';
import { BookingBody, ParticipantBody } from '../../../src/domains/bookings/booking/body-schema.ts';
import { detailedOrderTitle } from '../../../src/core/date-format.ts';
import { CourseDateBody } from '../../../src/domains/courses/coursedates/fields.ts';
import { CourseBody } from '../../../src/domains/courses/courses/fields.ts';
import { CustomerBody } from '../../../src/domains/people/customers/fields.ts';
import { GatheringField } from '../../../src/domains/courses/gatherings/fields.ts';
import { InstructorBody } from '../../../src/domains/courses/instructors/fields.ts';
import { LocationBody } from '../../../src/domains/courses/locations/fields.ts';
import { SchoolBody } from '../../../src/domains/school/schools/fields.ts';
import { differences } from '../../support/compare-responses.ts';
import { exportToLines, importObjects } from '../../support/all-responses.ts';
import { sharedTestApp, type TestResponse } from '../../support/test-app.ts';

type Schemas = Record<string, TSchema>;

/** Fields of a record type or of a nested object: `order.booking`. */
function fieldsOf(path: string): Schemas {
  const [name, ...members] = path.split('.');
  const kind = recordTypes.find((one) => one.kind === name)!;
  if (!isBulk(kind)) return kind.schema.properties;
  const item = members.reduce<Item>((owner, member) => (owner.parts![member] as { item: Item }).item, kind);
  return Object.fromEntries(Object.entries(item.fields).map(([field, { schema }]) => [field, schema]));
}

const longest = (schema: TSchema) => schema['maxLength'] as number | undefined;

/** API names of import fields, where they differ. */
test.each<[string, Schemas, Record<string, string>?]>([
  ['school', SchoolBody.properties],
  ['admin_user', AdminUserBody.properties],
  ['instructor', InstructorBody.properties],
  ['location', LocationBody.properties],
  ['customer', CustomerBody.properties],
  ['course', CourseBody.properties],
  ['coursedate', CourseDateBody.properties, { place_by_search: 'place_additional_info' }],
  ['coursedate.gatherings', GatheringField.properties],
  ['order', BookingBody.properties, { invoice_reference: 'your_reference', booker_name: 'booker' }],
  ['order.booking', BookingBody.properties],
  ['participant', BookingBody.properties],
  ['participant', ParticipantBody.properties, { comment: 'user_comment' }],
  ['user', BookingBody.properties, { company_number: 'orgnr' }],
  ['user', ParticipantBody.properties],
])('import of a %s accepts the same lengths as the API', (path, body, renamed = {}) => {
  const fields = fieldsOf(path);
  const shorter = Object.entries(body).flatMap(([name, schema]) => {
    const field = fields[renamed[name] ?? name];
    const most = longest(schema);
    return field && most && (longest(field) ?? Infinity) < most ? [name] : [];
  });
  expect(shorter).toEqual([]);
});

test('an imported order accepts the detailed title of any date and place', () => {
  const title = detailedOrderTitle('2030-06-10', '2030-06-11', 'x'.repeat(longest(Title())!));
  expect(longest(fieldsOf('order')['title_detailed']!)).toBeGreaterThanOrEqual(title.length);
});

/** Two-byte letters, except for texts that would exceed the body limit by themselves. */
const long = (length: number) => (length > 5_000 ? 'x' : 'å').repeat(length);
const email = (start: string) => `${start}@${'e'.repeat(253 - start.length)}`;
const url = `https://${'u'.repeat(1_992)}`;

/** A body with the longest value in every free-text field. */
const filled = (body: Schemas, others: object) => ({
  ...Object.fromEntries(
    Object.entries(body).flatMap(([name, schema]) => {
      const most = longest(schema);
      const free = schema['type'] === 'string' && !schema['pattern'] && !schema['format'];
      // Dates and times have a fixed format.
      return free && most !== undefined && most >= 255 && name !== 'timezone' ? [[name, long(most)]] : [];
    }),
  ),
  ...others,
});

const idIn = (response: TestResponse, name = 'id') => {
  expect([response.status, response.text.slice(0, 300)]).toEqual([201, expect.any(String)]);
  return response.json<Record<string, number>>()[name]!;
};

test('the longest API values survive an export and an import', async () => {
  const testApp = await sharedTestApp();
  const [me, copy] = [await testApp.createProvider(), await testApp.createProvider()];
  const instructors = [
    idIn(await me.post('/v2/instructors', filled(InstructorBody.properties, { email: email('i') }))),
  ];
  const location = filled(LocationBody.properties, { email_booking: email('b'), idInstructor: instructors[0] });
  const location_id = idIn(await me.post('/v2/locations', location));
  const payer = filled(CustomerBody.properties, { email: email('c'), web_address: url });
  const customer_id = idIn(await me.post('/v2/customers', payer), 'customer_id');
  const courseId = idIn(
    await me.post('/v2/courses', filled(CourseBody.properties, { external_booking_url: url })),
    'course_id',
  );
  const { place_by_search, ...date } = filled(CourseDateBody.properties, {
    ...{ start_at: '2030-06-10', end_at: '2030-06-11', event_url: url, location_id, instructors },
  }) as Record<string, unknown>;
  const meeting = { gathering_at: '2030-06-10 09:00', gathering_end_at: '2030-06-10 10:00' };
  const gatherings = [filled(GatheringField.properties, { ...meeting, event_url: url })];
  const dates = `/v2/courses/${courseId}/coursedates`;
  const parent_id = idIn(await me.post(dates, { ...date, gatherings, trigger_value: '' }), 'coursedate_id');
  const childId = idIn(await me.post(dates, { ...date, parent_id }), 'coursedate_id');
  idIn(await me.post(dates, { ...date, place_additional_info: '', place_by_search }), 'coursedate_id');

  // `İ` is two letters in lower case, so that the second composed username is longer than its input.
  const people = [long(255), 'İ'.repeat(255)].map((lastname) => ({
    ...filled(ParticipantBody.properties, { email: email('shared'), products: [] }),
    ...{ firstname: lastname, lastname },
  }));
  const booking = filled(BookingBody.properties, {
    ...{ coursedate_id: parent_id, payment_method: 'invoice', customer_id, participants: people },
    ...{ campaign_code: '', voucher_code: '', booker_email: email('k'), invoice_email: email('f') },
  });
  const booked = await me.post('/v2/booking', booking);
  expect([booked.status, booked.text.slice(0, 300)]).toEqual([201, expect.any(String)]);
  const participants = (await me.get('/v2/participants')).json<{ coursedate: { id: number } }[]>();
  expect(participants.map(({ coursedate }) => coursedate.id)).toEqual([childId, childId]);

  const lines = await exportToLines(testApp, me);
  const usernames = lines.filter(({ kind }) => kind === 'user').map(({ username }) => String(username).length);
  expect(usernames[1]).toBeGreaterThan(1_000);
  expect(await importObjects(copy, lines)).toMatchObject({ written: lines.length, reasons: [] });
  expect(differences(lines, await exportToLines(testApp, copy))).toEqual([]);
});
