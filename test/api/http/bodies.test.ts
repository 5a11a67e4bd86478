import { describe, expect, test } from 'vitest';
import {
  dialects,
  encodeBody,
  fieldErrors,
  fullSchool,
  omitVolatile,
  minimalSchool,
  contentTypeHeader,
  sendWrite,
  sendRawWrite,
  writeEndpoints,
} from '../../support/request-bodies.ts';
import { sharedTestApp, type Provider } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const { createProvider } = testApp;
const [postCourse, putSchool, , postLegacyCourse] = writeEndpoints as [Write, Write, Write, Write, ...Write[]];
type Write = (typeof writeEndpoints)[number];
type Item = Record<string, unknown> & { title: string; tags: { id: number; title: string }[] };

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const courses = async (provider: Provider) => (await provider.get('/v2/courses')).json<Item[]>();
const each = <T>(values: readonly T[]) =>
  writeEndpoints.flatMap((endpoint) => values.map((value) => [endpoint.name, value, endpoint] as const));

const me = await createProvider();
let titles = 0;
const nextTitle = () => `Empty ${(titles += 1)}`;
const withTitle = (type: string, body: string) =>
  type === json ? body.replace('{', `{"title":"${nextTitle()}",`) : `title=${nextTitle()}&${body}`;

async function makeTags(provider: Provider) {
  await provider.course({ tags: [{ title: 'One' }, { title: 'Two' }] });
  const [one, two] = (await provider.get('/v2/course-tags')).json<{ id: number }[]>();
  return [one!.id, two!.id] as const;
}

test.each(writeEndpoints)('$name gives the same result in every body format', async (endpoint) => {
  const read = [];
  for (const dialect of dialects) {
    const me = await createProvider();
    const response = await sendWrite(me, endpoint, dialect, endpoint.full);
    expect(response, response.text).toMatchObject({ status: endpoint.created });
    read.push(omitVolatile(await endpoint.read(me, response), endpoint.fresh));
  }
  expect(read[1]).toEqual(read[0]);
  expect(read[2]).toEqual(read[0]);
  const { title } = endpoint;
  expect(read[0]).toMatchObject(title === null ? endpoint.minimal : { [title]: endpoint.full[title] });
});

test.each(each(dialects))('%s accepts only the required fields as %s', async (_name, dialect, endpoint) => {
  const me = await createProvider();
  const response = await sendWrite(me, endpoint, dialect, endpoint.minimal);
  expect(response.status, response.text).toBe(endpoint.created);
  const { title } = endpoint;
  expect(await endpoint.read(me, response)).toMatchObject(
    title === null ? endpoint.minimal : { [title]: endpoint.minimal[title] },
  );
});

test.each<[string, (a: number, b: number) => string]>([
  ['indexes', (a, b) => `tags[0]=${a}&tags[1]=${b}`],
  ['empty brackets', (a, b) => `tags[]=${a}&tags[]=${b}`],
  ['encoded brackets', (a, b) => `tags%5B0%5D=${a}&tags%5b1%5d=${b}`],
  ['sparse indexes', (a, b) => `tags[3]=${a}&tags[70]=${b}`],
  ['indexes out of order', (a, b) => `tags[1]=${b}&tags[0]=${a}`],
  ['a JSON list of ids', (a, b) => `tags=[${a},${b}]`],
  ['a JSON list of objects', (a, b) => `tags=${encodeURIComponent(`[{"id":${a}},{"title":"two"}]`)}&x=${b}`],
  ['nested objects', (a) => `tags[0][id]=${a}&tags[1][title]=Two`],
  ['ids named twice', (a, b) => `tags[]=${a}&tags[]=${b}&tags[]=${a}`],
])('a form names tags by %s', async (_name, body) => {
  const me = await createProvider();
  const ids = await makeTags(me);
  const response = await sendRawWrite(me, postCourse, form, `title=Tagged&${body(...ids)}`);
  expect(response.status, response.text).toBe(201);
  expect((await courses(me)).at(-1)?.tags.map(({ id }) => id)).toEqual(ids);
});

test.each(dialects)('custom properties may have numbers as names: %s', async (dialect) => {
  const me = await createProvider();
  const custom_properties = { 1: 'one', 2: 'two', 90210: 'many' };
  const response = await sendWrite(me, postCourse, dialect, { title: 'A', custom_properties });
  expect(response.status, response.text).toBe(201);
  expect(await postCourse.read(me, response)).toMatchObject({ custom_properties });
});

describe('an empty array counts as an empty object, as PHP encodes it', () => {
  const stored = { custom_properties: { room: 'A' }, translations: { en: { lead: 'In English' } } };
  const ways: [string, string, (name: string) => string][] = [
    ['JSON', json, (name) => `{"${name}":[]}`],
    ['JSON in JSON', json, (name) => `{"${name}":"[]"}`],
    ['JSON in a form', form, (name) => `${name}=[]`],
    ['an object in a form', form, (name) => `${name}={}`],
  ];

  test.each(ways)('for a new course: %s', async (_name, type, body) => {
    for (const name of Object.keys(stored)) {
      const response = await sendRawWrite(me, postCourse, type, withTitle(type, body(name)));
      expect(response.status, response.text).toBe(201);
      const course = await postCourse.read(me, response);
      expect(course).toMatchObject({ custom_properties: null, description_languages: [] });
    }
  });

  test.each(ways)('for an existing course, which stays unchanged: %s', async (_name, type, body) => {
    const id = await me.course({ title: nextTitle(), ...stored });
    const read = async () => omitVolatile((await me.get(`/v2/courses/${id}`)).json());
    const before = await read();
    for (const name of Object.keys(stored)) {
      const response = await me.put(`/v2/courses/${id}`, body(name), { 'content-type': type });
      expect(response.status, response.text).toBe(200);
      expect(await read()).toEqual(before);
    }
  });

  test('and within a translation', async () => {
    const id = await me.course({ title: nextTitle(), ...stored });
    expect((await me.put(`/v2/courses/${id}`, { translations: { en: [], da: [] } })).status).toBe(200);
    expect((await me.get(`/v2/courses/${id}`)).json()).toMatchObject({ description_languages: ['en'] });
  });

  test.each([[[1]], [['a']], [[[]]], [[null]]])('an array with an item, like %j, is rejected', async (value) => {
    for (const name of Object.keys(stored)) {
      const response = await me.post('/v2/courses', { title: nextTitle(), [name]: value });
      expect(response).toMatchObject({ status: 400, text: `{"error":"Field(s) not valid: ${name}"}` });
    }
  });
});

test.each(['tags=%d', 'tags[]=%d', 'tags[0]=%d', 'tags=["%d"]'])('%s names one tag', async (body) => {
  const me = await createProvider();
  const [id] = await makeTags(me);
  await sendRawWrite(me, postCourse, form, `title=Tagged&${body.replace('%d', String(id))}`);
  expect((await courses(me)).at(-1)?.tags).toEqual([{ id, title: 'One' }]);
});

test.each([
  ['form', form, `title=A&tags=${encodeURIComponent('[{"title":" New "},{"title":"new"}]')}`],
  ['nested form', form, 'title=A&tags[0][title]=+New+&tags[1][title]=new'],
  ['JSON', json, '{"title":"A","tags":[{"title":" New "},{"title":"new"}]}'],
  ['JSON in JSON', json, '{"title":"A","tags":"[{\\"title\\":\\"New\\"}]"}'],
])('a new tag title creates one tag: %s', async (_name, type, body) => {
  const me = await createProvider();
  await sendRawWrite(me, postCourse, type, body);
  expect((await courses(me))[0]?.tags).toEqual([{ id: expect.any(Number) as number, title: 'New' }]);
});

test.each(['tags[]=', 'tags=', 'tags=[]', 'tags=%20[]', 'labels='])('%s is not a tag', async (body) => {
  const me = await createProvider();
  const response = await sendRawWrite(me, postCourse, form, `title=A&${body}`);
  expect(response.status, response.text).toBe(201);
  expect((await courses(me))[0]?.tags).toEqual([]);
});

test.each([
  [form, 'title=A&tags[]=&tags[]=%d&tags[]='],
  [json, '{"title":"A","tags":[null,%d,""]}'],
])('an empty tag beside another is left out: %s %s', async (type, body) => {
  const me = await createProvider();
  const [id] = await makeTags(me);
  const response = await sendRawWrite(me, postCourse, type, body.replace('%d', String(id)));
  expect(response.status, response.text).toBe(201);
  expect((await courses(me)).at(-1)?.tags).toEqual([{ id, title: 'One' }]);
});

test.each(['labels[]=%d', 'labels=[{"id":%d}]', 'labels[0][title]=red', 'labels=[{"title":" RED "}]'])(
  '%s names a label',
  async (body) => {
    const me = await createProvider();
    await me.course({ labels: [{ title: 'Red' }] });
    const labels = 'select id from labels where provider_id = $1';
    const { rows } = await testApp.database.pool.query<{ id: number }>(labels, [me.id]);
    const response = await sendRawWrite(me, postCourse, form, `title=B&${body.replace('%d', String(rows[0]!.id))}`);
    expect(response.status, response.text).toBe(201);
    const named = 'select label_id from course_labels where provider_id = $1 and course_id = $2';
    const { rows: found } = await testApp.database.pool.query(named, [
      me.id,
      response.json<{ course_id: number }>().course_id,
    ]);
    expect(found).toEqual([{ label_id: rows[0]!.id }]);
  },
);

test.each([
  ['tags=x', 'tags'],
  ['tags=[', 'tags'],
  ['tags={"id":0}', 'tags[0].id'],
  ['tags=[[1]]', 'tags'],
  ['tags[0][id]=-1', 'tags[0].id'],
  ['tags=0', 'tags'],
  ['labels=999999999', 'labels'],
])('%s is not valid', async (body, field) => {
  const response = await sendRawWrite(await createProvider(), postCourse, form, `title=A&${body}`);
  expect(response).toMatchObject({
    status: 400,
    text: `{"error":"Field(s) not valid: ${field}"}`,
  });
});

test('a tag of another provider is rejected, alone or with own tags', async () => {
  const [me, other] = [await createProvider(), await createProvider()];
  const [[own], [foreign]] = [await makeTags(me), await makeTags(other)];
  for (const tags of [[foreign], [own, foreign], [{ id: foreign }]]) {
    const response = await me.post('/v2/courses', { title: 'A', tags });
    expect(response).toMatchObject({ status: 400, text: '{"error":"Field(s) not valid: tags"}' });
  }
});

const booleans = { true: '1 true TRUE yes Yes on ON', false: '0 false False no NO off Off' };
test.each(Object.entries(booleans))('%s in a form is spelled %s', async (meaning, spellings) => {
  const me = await createProvider();
  for (const word of spellings.split(' ')) {
    const response = await sendRawWrite(me, putSchool, form, encodeBody('form', { ...minimalSchool, active: word }));
    expect(response.status, word).toBe(200);
    expect((await me.get('/v2/schools')).json(), word).toMatchObject({ school: { active: meaning === 'true' } });
  }
});

test.each([true, false, 1, 0, 'yes', 'OFF'])('%j is a boolean in JSON', async (active) => {
  const me = await createProvider();
  await me.post('/v2/courses', { title: 'A', active });
  expect((await courses(me))[0]).toMatchObject({ is_active: [true, 1, 'yes'].includes(active) });
});

test.each([2, -1, 1.5, 'maybe', 'y', 't', ' 1', '01', 'null', [true], {}, 'ja', 'constructor'])(
  '%j is not a boolean',
  async (active) => {
    const me = await createProvider();
    for (const endpoint of writeEndpoints.filter(({ flag }) => flag !== null)) {
      const { flag } = endpoint;
      const response = await sendWrite(me, endpoint, 'json', { ...endpoint.minimal, [flag!]: active });
      expect([response.status, fieldErrors(response)], endpoint.name).toEqual([400, { missing: [], notValid: [flag] }]);
    }
  },
);

test.each(dialects)('an empty optional field of a new course has its default: %s', async (dialect) => {
  const [me, other] = [await createProvider(), await createProvider()];
  const empty = Object.fromEntries(Object.keys(postCourse.full).map((name) => [name, '']));
  const [response, plain] = [
    await sendWrite(me, postCourse, dialect, { ...empty, title: 'A' }),
    await sendWrite(other, postCourse, dialect, { title: 'A' }),
  ];
  expect(response.status, response.text).toBe(201);
  expect(omitVolatile(await postCourse.read(me, response))).toEqual(omitVolatile(await postCourse.read(other, plain)));
});

test.each(dialects)(
  'an empty optional text of a school is cleared; an empty boolean counts as not sent: %s',
  async (dialect) => {
    const me = await createProvider();
    await sendWrite(me, putSchool, dialect, fullSchool);
    const optional = Object.keys(fullSchool).filter((name) => !(name in minimalSchool));
    const response = await sendWrite(me, putSchool, dialect, {
      ...minimalSchool,
      ...Object.fromEntries(optional.map((name) => [name, ''])),
    });
    expect(response.status, response.text).toBe(200);
    expect((await me.get('/v2/schools')).json<{ school: object }>().school).toMatchObject({
      active: true,
      reference: null,
      email_booking: '',
      email_more_info: '',
      visit_address: { address: '', zip: '', city: '' },
      web_address: '',
      text_tagline: '',
      text_description: '',
    });
  },
);

test.each(dialects)('an omitted optional field of a school keeps its value: %s', async (dialect) => {
  const me = await createProvider();
  await sendWrite(me, putSchool, dialect, fullSchool);
  const before = await putSchool.read(me, await me.get('/v2/schools'));
  await sendWrite(me, putSchool, dialect, minimalSchool);
  const after = await putSchool.read(me, await me.get('/v2/schools'));
  expect(omitVolatile(after)).toEqual({ ...omitVolatile(before), active: true });
});

test('null in JSON is empty', async () => {
  const me = await createProvider();
  await sendWrite(me, putSchool, 'json', fullSchool);
  const response = await sendWrite(me, putSchool, 'json', {
    ...minimalSchool,
    reference: null,
    text_tagline: null,
    active: null,
  });
  expect(response.status).toBe(200);
  expect(await putSchool.read(me, response)).toMatchObject({ reference: null, text_tagline: '', active: true });
});

test.each(each(dialects))('%s: an empty required field counts as missing, as %s', async (_name, dialect, endpoint) => {
  const me = await createProvider();
  // An empty field of a new school would equal the stored one.
  if (endpoint === putSchool) await sendWrite(me, endpoint, dialect, endpoint.minimal);
  for (const name of Object.keys(endpoint.minimal)) {
    const response = await sendWrite(me, endpoint, dialect, { ...endpoint.minimal, [name]: '' });
    expect([response.status, fieldErrors(response)]).toEqual([400, { missing: [name], notValid: [] }]);
  }
});

const lenient = each(dialects).filter(([name]) => !name.endsWith('/deregister'));
test.each(lenient)('%s ignores read-only and unknown fields, as %s', async (_name, dialect, endpoint) => {
  const me = await createProvider();
  const sent = {
    id: 'x',
    course_id: '7',
    created_at: 'never',
    deleted_at: '2020-01-01',
    archived_at: '2020-01-01',
    provider_id: '1',
    colour: 'red',
  };
  const response = await sendWrite(me, endpoint, dialect, { ...endpoint.minimal, ...sent });
  expect(response.status, response.text).toBe(endpoint.created);
  expect(await endpoint.read(me, response)).not.toHaveProperty('colour');
});

test('the legacy interface ignores tags, labels and external URLs', async () => {
  const me = await createProvider();
  const ignored = { tags: ['x'], labels: '[', external_booking_url: 'no url', external_more_info_url: 'no url' };
  const response = await sendWrite(me, postLegacyCourse, 'form', { title: 'A', ...ignored });
  expect(response.status, response.text).toBe(200);
  expect((await courses(me))[0]).toMatchObject({ tags: [], external_booking_url: null, external_more_info_url: null });
});

test.each(['title[]=B', 'title[0]=B', 'title[a]=B', 'title=A&title=B', 'title=A&title[]=B', 'title=A&title[x]=B'])(
  'a single value instead of a list: %s',
  async (body) => {
    const me = await createProvider();
    for (const endpoint of [postCourse, postLegacyCourse]) {
      const response = await sendRawWrite(me, endpoint, form, body);
      expect(response.json<{ error: string }>().error).toBe('Field(s) not valid: title');
    }
  },
);

test('a repeated multipart field is rejected', async () => {
  const part = '--edge\r\ncontent-disposition: form-data; name="title"\r\n\r\nA\r\n';
  const body = `${part}${part}--edge--\r\n`;
  const response = await sendRawWrite(
    await createProvider(),
    postCourse,
    contentTypeHeader('multipart')['content-type'],
    body,
  );
  expect(response).toMatchObject({ status: 400, text: '{"error":"Field(s) not valid: title"}' });
});

test.each(['title', 'level', 'active'])('a JSON list instead of %s is rejected', async (name) => {
  const response = await (await createProvider()).post('/v2/courses', { title: 'A', [name]: ['6'] });
  expect(response).toMatchObject({ status: 400, text: `{"error":"Field(s) not valid: ${name}"}` });
});
