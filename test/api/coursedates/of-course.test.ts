import { describe, expect, test } from 'vitest';
import { approvePartner } from '../../../src/domains/school/schools/partner-service.ts';
import { addDate, addGathering, addInstructor, addLocation, addParticipants, changeDate } from '../../support/dates.ts';
import { write } from '../../support/orders.ts';
import { openTestAppForFile, type TestResponse, type Provider } from '../../support/test-app.ts';

const testApp = await openTestAppForFile();
const { createProvider } = testApp;

const idsOf = (response: TestResponse): number[] =>
  response.json().map((one: { coursedate_id: number }) => one.coursedate_id);
const reported = (response: TestResponse) => [response.status, response.json().error];
const deleteCourse = async (me: Provider, id: number) =>
  write(me, (tx, now) => tx.execute(`update courses set deleted_at = '${now}' where id = ${id}`));

describe('GET /v2/courses/:id/coursedates', () => {
  test('returns an array of the dates of the course with the default includes', async () => {
    const me = await createProvider();
    const [courseId, otherCourse] = [await me.course({ title: 'Knots' }), await me.course()];
    const locationId = await addLocation(me, { title: 'Hall' });
    const date = await addDate(me, courseId, { locationId, placeAdditionalInfo: 'Door 2', statusId: 2 });
    const gathering = await addGathering(me, date, {}, [await addInstructor(me)]);
    const later = await addDate(me, courseId);
    await addDate(me, otherCourse);
    const response = await me.get(`/v2/courses/${courseId}/coursedates`);
    expect(idsOf(response)).toEqual([date, later]);
    const [first, second] = response.json();
    expect(first).toMatchObject({
      place: { title_additional_info: 'Door 2' },
      location: { id: locationId, title: 'Hall' },
      teaching_language: { id: 'no', title: 'Norwegian' },
      gatherings: [{ id: gathering, instructors: [{ name: 'Kari Nordmann' }] }],
      course: { id: courseId, title: 'Knots' },
      status: { id: 2, idType: 2, title: 'Will run' },
    });
    expect(second).toMatchObject({ location: null, gatherings: [], place: { title_additional_info: null } });
    const names = 'place,location,teaching_language,gatherings,course,status';
    const listed = await me.get(`/v2/coursedates?course_id=${courseId}&include=${names}`);
    expect(response.json()).toEqual(listed.json().items);
    // Upcoming gatherings depend on the clock.
    expect(response.headers).not.toHaveProperty('etag');
    expect((await me.get(`/v2/courses/${courseId}/coursedates?include=${names}`)).json()).toEqual(response.json());
  });

  test('accepts the parameters and includes of GET /v2/coursedates', async () => {
    const me = await createProvider();
    const courseId = await me.course({ tags: [{ title: 'a' }] });
    const [tag] = (await me.get('/v2/course-tags')).json();
    const a = await addDate(me, courseId, { startAt: '2030-06-10', statusId: 2 });
    const b = await addDate(me, courseId, { startAt: '2030-06-09' });
    const child = await addDate(me, courseId, { startAt: '2020-06-11', parentId: b });
    const gone = await addDate(me, courseId, { deletedAt: '2026-01-01 00:00+00' });
    await addParticipants(me, courseId, a, [1]);
    const ids = async (query: string) => idsOf(await me.get(`/v2/courses/${courseId}/coursedates?${query}`));
    expect(await ids('')).toEqual([a, b, child]);
    expect(await ids('include_deleted=1')).toEqual([a, b, child, gone]);
    expect(await ids('order_by=startdate&order_direction=desc')).toEqual([a, b, child]);
    expect(await ids('order_by=startdate')).toEqual([child, b, a]);
    expect(await ids('status_id=2')).toEqual([a]);
    expect(await ids('has_participants=0')).toEqual([b, child]);
    expect(await ids('start_date_at_min=now')).toEqual([a, b]);
    expect(await ids('end_date_at_max=2030-06-10')).toEqual([b, child]);
    expect(await ids(`since_id=${a}`)).toEqual([b, child]);
    expect(await ids(`coursedate_id=${b}`)).toEqual([b]);
    expect(await ids(`tag_ids=${tag.id}&tag_match=all`)).toEqual([a, b, child]);
    expect(await ids('updated_at_min=2100-01-01')).toEqual([]);
    expect(await ids(`course_id=${courseId}`)).toEqual([a, b, child]);
    const otherCourse = await me.course();
    await addDate(me, otherCourse);
    expect(await ids(`course_id=${otherCourse}`)).toEqual([]);
    expect(await ids(`course_id=${otherCourse},${courseId}`)).toEqual([a, b, child]);
    const [, rich] = (await me.get(`/v2/courses/${courseId}/coursedates?include=subinstances,course.products`)).json();
    expect(rich).toMatchObject({ subinstances: [{ coursedate_id: child }], course: { products: [{ price: 0 }] } });
    const bad = await me.get(`/v2/courses/${courseId}/coursedates?include=participants&status_id=9`);
    expect(bad.status).toBe(400);
    expect(bad.json().error).toContain('Field(s) not valid: status_id,include. Supported values of include: course,');
    expect(reported(await me.get(`/v2/courses/${courseId}/coursedates?tag_ids=999999999`))).toEqual([
      400,
      'Field(s) not valid: tag_ids',
    ]);
  });

  test('is paged, with Link and X-Updated-Through', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const ids = [await addDate(me, courseId), await addDate(me, courseId), await addDate(me, courseId)];
    const response = await me.get(`/v2/courses/${courseId}/coursedates?limit=2&updated_at_min=2020-01-01`);
    expect(idsOf(response)).toEqual(ids.slice(0, 2));
    expect(response.headers['link']).toBe(
      `<http://localhost:3000/v2/courses/${courseId}/coursedates?limit=2&updated_at_min=2020-01-01&since_id=${ids[1]!}>; rel="next"`,
    );
    expect(response.headers).toHaveProperty('x-updated-through');
    const past = await me.get(`/v2/courses/${courseId}/coursedates?limit=2&page=3`);
    expect([past.status, past.json()]).toEqual([200, []]);
  });

  test('returns 404 for an unknown course, and for a deleted one without include_deleted', async () => {
    const [me, other] = [await createProvider(), await createProvider()];
    const [courseId, theirs] = [await me.course(), await other.course()];
    const date = await addDate(me, courseId);
    for (const id of [theirs, 999999999])
      expect(reported(await me.get(`/v2/courses/${id}/coursedates`))).toEqual([404, 'Course not found']);
    await deleteCourse(me, courseId);
    expect((await me.get(`/v2/courses/${courseId}/coursedates`)).status).toBe(404);
    expect(idsOf(await me.get(`/v2/courses/${courseId}/coursedates?include_deleted=1`))).toEqual([date]);
  });

  test("shows a partner's public course and nothing else of other providers", async () => {
    const [me, partner] = [await createProvider(), await createProvider()];
    await approvePartner(testApp.database, me.id, partner.id);
    const [open, internal, mine] = [
      await partner.course(),
      await partner.course({ type: 'internal' }),
      await me.course(),
    ];
    const [shown, own] = [await addDate(partner, open, { reference: 'R' }), await addDate(me, mine)];
    await addDate(partner, open, { isVisible: false });
    await addDate(partner, internal);
    const dates = async (id: number, query: string) => me.get(`/v2/courses/${id}/coursedates?${query}`);
    for (const query of ['include_partners=1', `partner_id=${partner.id}`]) {
      const response = await dates(open, query);
      expect(idsOf(response)).toEqual([shown]);
      expect(response.json()[0]).toMatchObject({ reference: null, provider: { id: partner.id }, course: { id: open } });
      expect((await dates(internal, query)).status).toBe(404);
    }
    expect((await dates(open, '')).status).toBe(404);
    expect((await dates(mine, `partner_id=${partner.id}`)).status).toBe(404);
    expect(idsOf(await dates(mine, 'include_partners=1'))).toEqual([own]);
    expect((await dates(mine, 'partner_id=999999999')).status).toBe(403);

    const one = await me.get(`/v2/courses/${open}/coursedates/${shown}?include_partners=1`);
    expect([one.status, one.headers['x-ignored-parameters']]).toEqual([404, 'include_partners']);
  });
});

describe('GET /v2/courses/:id/coursedates/:id', () => {
  test('returns one course date with the requested includes', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    const id = await addDate(me, courseId);
    const [item] = (await me.get(`/v2/coursedates?coursedate_id=${id}`)).json().items;
    const response = await me.get(`/v2/courses/${courseId}/coursedates/${id}`);
    expect([response.status, response.json()]).toEqual([200, item]);
    const rich = (await me.get(`/v2/courses/${courseId}/coursedates/${id}?include[]=course&include[]=status`)).json();
    expect(rich).toEqual({ ...item, course: expect.anything(), status: { id: 1, idType: 1, title: 'To be defined' } });
    expect((await me.get(`/v2/courses/${courseId}/coursedates/${id}?include=x`)).status).toBe(400);
  });

  test('returns 404 unless the date belongs to the course', async () => {
    const [me, other] = [await createProvider(), await createProvider()];
    const [courseId, otherCourse, theirs] = [await me.course(), await me.course(), await other.course()];
    const [mine, elsewhere, foreign] = [
      await addDate(me, courseId),
      await addDate(me, otherCourse),
      await addDate(other, theirs),
    ];
    const request = async (course: number, date: number, query = '') =>
      reported(await me.get(`/v2/courses/${course}/coursedates/${date}${query}`));
    for (const id of [elsewhere, foreign, 999999999])
      expect(await request(courseId, id)).toEqual([404, 'Course date not found']);
    for (const id of [theirs, 999999999]) expect(await request(id, foreign)).toEqual([404, 'Course not found']);
    await changeDate(me, mine, { deletedAt: '2026-01-01 00:00+00' });
    expect(await request(courseId, mine)).toEqual([404, 'Course date not found']);
    expect(await request(courseId, mine, '?include_deleted=1')).toEqual([200, undefined]);
    await deleteCourse(me, otherCourse);
    expect(await request(otherCourse, elsewhere)).toEqual([404, 'Course not found']);
    expect(await request(otherCourse, elsewhere, '?include_deleted=1')).toEqual([200, undefined]);
  });
});

describe('GET /v2/batch/coursedates', () => {
  test('returns an array of the dates of the given courses', async () => {
    const [me, other] = [await createProvider(), await createProvider()];
    const [a, b, c, theirs] = [await me.course(), await me.course(), await me.course(), await other.course()];
    const dates = [await addDate(me, a), await addDate(me, b), await addDate(me, a)];
    await addDate(me, c);
    await addDate(other, theirs);
    const ids = async (query: string) => idsOf(await me.get(`/v2/batch/coursedates?${query}`));
    expect(await ids(`course_ids[]=${a}&course_ids[]=${b}`)).toEqual(dates);
    expect(await ids(`course_ids=${a},${b}`)).toEqual(dates);
    expect(await ids(`course_ids=${a}`)).toEqual([dates[0], dates[2]]);
    expect(await ids(`course_ids=${a},${theirs},999999999`)).toEqual([dates[0], dates[2]]);
    expect(await ids(`course_ids=${theirs}`)).toEqual([]);
    expect(await ids(`course_ids=${a},${b}&course_id=${b}`)).toEqual([dates[1]]);
    expect(await ids(`course_ids=${a},${b}&order_direction=desc`)).toEqual(dates.toReversed());
    const [item] = (await me.get(`/v2/coursedates?coursedate_id=${dates[0]!}&include=course,gatherings`)).json().items;
    const response = await me.get(`/v2/batch/coursedates?course_ids=${a}&include=course,gatherings&limit=1`);
    expect(response.json()).toEqual([item]);
  });

  test('returns 25 per page by default, with a Link to the next', async () => {
    const me = await createProvider();
    const courseId = await me.course();
    for (let created = 0; created < 26; created += 1) await addDate(me, courseId);
    const response = await me.get(`/v2/batch/coursedates?course_ids=${courseId}`);
    expect(response.json()).toHaveLength(25);
    const next = /<http:\/\/localhost:3000([^>]*)>; rel="next"/.exec(String(response.headers['link']))![1]!;
    expect((await me.get(next)).json()).toHaveLength(1);
    expect((await me.get(`/v2/batch/coursedates?course_ids=${courseId}&limit=250`)).json()).toHaveLength(26);
  });

  test('requires course_ids', async () => {
    const me = await createProvider();
    for (const query of ['', 'course_ids=', 'course_ids[]=', 'course_id=1'])
      expect(reported(await me.get(`/v2/batch/coursedates?${query}`))).toEqual([400, 'Missing field(s): course_ids']);
    for (const query of ['course_ids=x', 'course_ids=0', 'course_ids[]=1&course_ids[]=x'])
      expect(reported(await me.get(`/v2/batch/coursedates?${query}`))).toEqual([400, 'Field(s) not valid: course_ids']);
  });

  test('has an ETag unless the result depends on the clock or partners', async () => {
    const me = await createProvider();
    const url = `/v2/batch/coursedates?course_ids=${await me.course()}`;
    const { etag } = (await me.get(url)).headers;
    expect(etag).toMatch(/^W\//);
    expect((await me.get(url, { 'if-none-match': String(etag) })).status).toBe(304);
    for (const more of ['include=gatherings', 'start_date_at_min=now', 'include_partners=1'])
      expect((await me.get(`${url}&${more}`)).headers).not.toHaveProperty('etag');
  });

  test("shows partners' public dates", async () => {
    const [me, partner] = [await createProvider(), await createProvider()];
    await approvePartner(testApp.database, me.id, partner.id);
    const [open, mine] = [await partner.course(), await me.course()];
    const [shown, own] = [await addDate(partner, open), await addDate(me, mine)];
    await addDate(partner, open, { isVisible: false });
    const ids = async (more: string) => idsOf(await me.get(`/v2/batch/coursedates?course_ids=${open},${mine}${more}`));
    expect(await ids('')).toEqual([own]);
    expect(await ids('&include_partners=1')).toEqual([shown, own]);
    expect(await ids(`&partner_id=${partner.id}`)).toEqual([shown]);
  });
});
