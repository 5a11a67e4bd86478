import { expect, test } from 'vitest';
import { bookingBody, bookOrFail, createBookableDate, createVoucher, person } from '../../support/booking.ts';
import { contentTypeHeader, dialects, encodeBody } from '../../support/dialects.ts';
import { createCampaign } from '../../support/orders.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const { createProvider } = await sharedTestApp();

type Fault = { code: string; message: string; field?: string; participant?: number };
type Answer = { errors: Fault[]; fields: { field: string; code: string }[] };
const problem = 'application/problem+json';

const refused = async (me: Provider, body: object) => {
  const response = await me.post('/v2/booking', body, { accept: problem });
  expect(response.status, response.text).toBe(400);
  return response.json<Answer>();
};
const located = ({ errors }: Answer) => errors.map(({ code, field, participant }) => [code, field, participant]);

async function stage(date: Parameters<typeof createBookableDate>[1] = {}) {
  const me = await createProvider();
  return { me, ...(await createBookableDate(me, date)) };
}

test('each rule of a booking names its field', async () => {
  const { me, dateId } = await stage();
  await createCampaign(me, { campaignCode: 'ENDED', endsAt: '2020-01-01' });
  const fields = { campaign_code: 'ENDED', voucher_code: 'NONE', customer_id: 999_999_999 };
  const answer = await refused(me, bookingBody(dateId, fields));
  expect(located(answer)).toEqual([
    ['customer_invalid', 'customer_id', undefined],
    ['campaign_code_expired', 'campaign_code', undefined],
    ['voucher_code_invalid', 'voucher_code', undefined],
  ]);
  expect(answer.fields).toEqual(
    ['customer_id', 'campaign_code', 'voucher_code'].map((field) => ({ field, code: 'invalid' })),
  );
  expect(located(await refused(me, bookingBody(999_999_999)))).toEqual([
    ['course_date_identifier_invalid', 'coursedate_id', undefined],
  ]);
});

test('a date that is canceled or passed is the fault of coursedate_id', async () => {
  const { me, dateId } = await stage({ statusId: 3, deadlineAt: '2020-01-01' });
  expect(located(await refused(me, bookingBody(dateId)))).toEqual([
    ['course_date_cancelled', 'coursedate_id', undefined],
    ['deadline_passed', 'coursedate_id', undefined],
  ]);
});

test('an error of a participant has the index of the participant', async () => {
  const { me, dateId } = await stage({ capacityMax: 1 });
  const participants = [
    person(),
    person({ products: [999_999_999] }),
    { ...person(), email: 'x', firstname: undefined },
  ];
  const answer = await refused(me, bookingBody(dateId, { participants }));
  expect(located(answer)).toEqual([
    ['participant_name_invalid_empty', 'participants[2].firstname', 2],
    ['participant_email_invalid_empty', 'participants[2].email', 2],
    ['participant_products_invalid', 'participants[1].products', 1],
    ['no_seats_available', 'participants[1]', 1],
    ['no_seats_available', 'participants[2]', 2],
  ]);
  expect(answer.fields[0]).toEqual({ field: 'participants[2].firstname', code: 'missing' });
  expect(answer.fields).toContainEqual({ field: 'participants[1]', code: 'invalid' });
  expect(answer.errors[0]!.message).toMatch(/^Participant 3: /);
});

test('places without a seat are the fault of places', async () => {
  const { me, dateId } = await stage({ capacityMax: 1 });
  const answer = await refused(me, { coursedate_id: dateId, payment_method: 'invoice', places: 2 });
  expect(located(answer)).toEqual([['no_seats_available', 'places', undefined]]);
});

test('as JSON an error has its code and text alone', async () => {
  const { me, dateId } = await stage({ capacityMax: 1 });
  await bookOrFail(me, dateId);
  const message = 'Participant 1: no seat is available';
  const response = await me.post('/v2/booking', bookingBody(dateId));
  expect(response.json()).toEqual({
    ...{ successful: false, error: message },
    errors: [{ code: 'no_seats_available', message }],
  });
});

test.each(dialects)('a refused booking of a batch as %s has the fields of a single one', async (dialect) => {
  const { me, dateId } = await stage();
  await createVoucher(me, { code: 'SPENT', amount: '100', expiresAt: '2020-01-01' });
  const bookings = [
    bookingBody(dateId),
    bookingBody(dateId, { voucher_code: 'SPENT', participants: [person(), person({ email: 'x' })] }),
  ];
  const alone = await refused(me, bookings[1]!);
  for (const dryRun of [1, 0]) {
    const body = encodeBody(dialect, { bookings, dry_run: dryRun });
    const send = (headers: Record<string, string>) =>
      me.post('/v2/batch/booking', body, { ...contentTypeHeader(dialect), ...headers });
    const { results } = (await send({ accept: problem })).json<{ results: (Answer & { status: number })[] }>();
    expect(results[0]).toMatchObject({ status: 201, successful: true });
    expect(results[1]).toMatchObject({ status: 400, errors: alone.errors, fields: alone.fields });
    const plain = (await send({})).json<{ results: Answer[] }>().results[1]!;
    expect(plain).not.toHaveProperty('fields');
    expect(plain.errors).toEqual(alone.errors.map(({ code, message }) => ({ code, message })));
  }
});
