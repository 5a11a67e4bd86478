import { describe, expect, test } from 'vitest';
import { compareAnswers, describeDifferences, type Answer } from '../compare/differences.ts';

const headers = {
  date: 'Mon, 30 Nov 2026 10:27:12 GMT',
  'x-request-id': '42a052c5-cfc0-4e74-953d-bed9fab8c4be',
  etag: 'W/"7gjZylOvHOainjfms0Ahig_oqXe"',
  'cache-control': 'private, no-cache',
};
const item = {
  id: 17,
  title: 'First aid',
  created_at: '2026-11-30T11:27:04+01:00',
  api_key: `cbs_${'a'.repeat(40)}`,
  login_url: `http://booking.example/my/sign-in/${'a'.repeat(43)}`,
  cursor: 'MS4xMDMxLjE3OTYwMzQ0MjUyNzc1MTU',
  seats: { left: 3, status: 'open' },
};
const answer = (body: unknown, more: object = {}): Answer => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status: 200, headers: { ...headers, 'content-length': String(text.length), ...more }, text };
};
const compare = (body: unknown, more: object = {}) =>
  compareAnswers(answer([item]), answer(body, more)).map(({ kind, path }) => `${path}: ${kind}`);

describe('the answers of two builds', () => {
  test('may differ in times, keys, links, cursors and ETags', () => {
    const others = {
      created_at: '2026-11-30T11:27:09+01:00',
      api_key: `cbs_${'b'.repeat(40)}`,
      login_url: `http://booking.example/my/sign-in/${'b'.repeat(43)}`,
      cursor: 'MS4xMDMxLjE3OTYwMzQ0MjUyNzc1MTV',
    };
    const changed = {
      date: 'Mon, 30 Nov 2026 10:27:17 GMT',
      'x-request-id': '6b21f80a-96b4-4f43-9ddd-bdc4342b0933',
      etag: 'W/"811NlClz5sNyEzNZLC9EuqMDkIZ"',
    };
    expect(compare([{ ...item, ...others }], changed)).toEqual([]);
  });

  test.each([
    ['the value of a member', [{ ...item, title: 'First Aid' }], ['body[].title: value']],
    ['the value of a deep member', [{ ...item, seats: { left: 2, status: 'open' } }], ['body[].seats.left: value']],
    ['the type of a member', [{ ...item, id: '17' }], ['body[].id: value']],
    ['an id', [{ ...item, id: 18 }], ['body[].id: value']],
    ['a new member', [{ ...item, seats: { ...item.seats, max: 9 } }], ['body[].seats.max: added']],
    ['a member that is missing', [{ ...item, seats: { left: 3 } }], ['body[].seats.status: removed']],
    ['the order of members', [{ ...item, seats: { status: 'open', left: 3 } }], ['body[].seats: order']],
    ['the number of items', [item, item], ['body: number of items']],
    ['a time of another hour', [{ ...item, created_at: '2026-11-30T10:27:04+01:00' }], ['body[].created_at: value']],
    ['a time of another zone', [{ ...item, created_at: '2026-11-30T11:27:04+00:00' }], ['body[].created_at: value']],
    ['a time of another format', [{ ...item, created_at: '2026-11-30 11:27:04' }], ['body[].created_at: value']],
    ['a missing key', [{ ...item, api_key: null }], ['body[].api_key: value']],
    ['a link to another page', [{ ...item, login_url: item.login_url.replace('sign-in', 'password') }]],
    ['spaces between members', JSON.stringify([item], null, 1), ['body: text']],
    ['a body that is not JSON', 'id;title', ['body: removed']],
  ])('may not differ in %s', (_name, body, found = ['body[].login_url: value']) => {
    expect(compare(body)).toEqual(found);
  });

  test('may not differ in headers and their order', () => {
    expect(compare([item], { 'cache-control': 'public' })).toEqual(['headers.cache-control: value']);
    expect(compare([item], { etag: '"811NlClz5sNyEzNZLC9EuqMDkIZ"' })).toEqual(['headers.etag: value']);
    expect(compare([item], { etag: undefined })).toEqual(['headers.etag: removed']);
    expect(compare([item], { link: '</>; rel="next"' })).toEqual(['headers.link: added']);
    expect(compare([item], { 'content-length': '5' })).toEqual(['headers.content-length: value']);
    const [before, { headers: last, ...rest }] = [answer([item]), answer([item])];
    const reversed = Object.fromEntries(Object.entries(last).reverse());
    expect(compareAnswers(before, { ...rest, headers: reversed })).toMatchObject([{ kind: 'order', path: 'headers' }]);
  });

  test('may not differ in a line of a text', () => {
    const lines = ['id;created_at', '17;2026-11-30 11:27:04'];
    const same = [lines[0], '17;2026-11-30 11:27:05'].join('\n');
    expect(compareAnswers(answer(lines.join('\n')), answer(same))).toEqual([]);
    const other = { kind: 'text', path: 'body', before: lines[1], now: '18;2026-11-30 11:27:05' };
    expect(compareAnswers(answer(lines.join('\n')), answer(same.replace('17', '18')))).toEqual([other]);
  });

  test('may not differ in a tag of a page', () => {
    const page = (text: string) => answer(`<main><input name="key" value="${text.repeat(22)}"/><p>${text}</p></main>`);
    expect(compareAnswers(page('a'), page('b'))).toEqual([{ kind: 'text', path: 'body', before: '<p>a', now: '<p>b' }]);
  });

  test('may not differ in the status, which is the only difference then', () => {
    const refused = { ...answer('Not found'), status: 404 };
    expect(compareAnswers(answer('17'), refused)).toEqual([
      { kind: 'status', path: 'status', before: '200 17', now: '404 Not found' },
    ]);
  });
});

test('differences of one member are one group, with requests of different values', () => {
  const one = { kind: 'value', path: 'body[].id', before: '1', now: '2', request: 'GET /v2/courses' };
  const found = [{ ...one, path: 'body[].title' }, one, one, { ...one, now: '3' }];
  const sample = (now: string) => ['  GET /v2/courses', '    before: 1', `    now:    ${now}`];
  const ids = ['body[].id: value, 3 times', ...sample('2'), ...sample('3')];
  expect(describeDifferences(found)).toEqual([...ids, 'body[].title: value, 1 times', ...sample('2')]);
});
