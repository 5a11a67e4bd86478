import { expect, onTestFinished, test } from 'vitest';
import { importObjects } from '../../support/all-responses.ts';
import { openTestApp, openTestDatabase, ownDatabase, sharedTestApp, type Provider } from '../../support/test-app.ts';

const shared = await sharedTestApp();
const { createProvider } = shared;
type Fields = Record<string, unknown>;

const course = { kind: 'course', ref: 'c', title: 'Dated' };
const onDay = (day: string, fields: Fields = {}) => ({
  ...{ kind: 'coursedate', ref: day, course_id: 'c', start_at: day, end_at: day },
  ...fields,
});
const meeting = (start: string, end: string) => ({
  gatherings: [{ gathering_at: start, gathering_end_at: end }],
});
const user = (ref: string, fields: Fields = {}) => ({ kind: 'user', ref, firstname: ref, username: ref, ...fields });

/** The usernames and tags that an import wrote. */
async function readWritten(me: Provider, { database } = shared) {
  const { rows } = await database.pool.query<{ name: string }>(
    `select username as name from course_users where provider_id = $1
      union all select title from tags where provider_id = $1 order by name`,
    [me.id],
  );
  return rows.map(({ name }) => name);
}

// At 02:00 of 28 March 2027 the clocks of Oslo go forward to 03:00.
const gap = '2027-03-28';
test.each([
  ['a date', onDay(gap, { start_time_at: '02:30', end_time_at: '03:15' }), 'end_time_at'],
  ['a date of no length', onDay(gap, { start_time_at: '02:00', end_time_at: '03:00' }), 'end_time_at'],
  ['a gathering', onDay(gap, meeting(`${gap}T02:30`, `${gap}T03:15`)), 'gatherings[0].gathering_end_at'],
  ['a gathering of no length', onDay(gap, meeting(`${gap} 02:00`, `${gap} 03:00`)), 'gatherings[0].gathering_end_at'],
])('%s that ends in the hour which the clocks leave out is a bad line', async (_name, bad, field) => {
  const me = await createProvider();
  const { reasons, written } = await importObjects(me, [course, user('a'), bad, user('b')]);
  expect({ reasons, written }).toEqual({ reasons: [`3: Field(s) not valid: ${field}`], written: 0 });
  expect(await readWritten(me)).toEqual([]);
  // Without the bad line the others are written.
  expect(await importObjects(me, [course, user('a'), user('b')])).toMatchObject({ reasons: [], written: 3 });
  // The same times exist in another zone.
  expect(await importObjects(me, [{ ...bad, timezone: 'UTC' }])).toMatchObject({ reasons: [], written: 1 });
});

test('a birthday in the future is a bad line', async () => {
  const me = await createProvider();
  const lines = [user('a'), user('born', { date_of_birth: '2999-01-01' }), user('b')];
  const { reasons, written } = await importObjects(me, lines);
  expect({ reasons, written }).toEqual({ reasons: ['2: Field(s) not valid: date_of_birth'], written: 0 });
  expect(await readWritten(me)).toEqual([]);
  expect(await importObjects(me, [user('born', { date_of_birth: '1990-12-31' })])).toMatchObject({ written: 1 });
});

test('a customer with a web address that is no URL is a bad line', async () => {
  const me = await createProvider();
  const customer = (web_address: string) => ({ kind: 'customer', ref: web_address, title: 'Fjord AS', web_address });
  const lines = ['www.fjord.example', 'javascript:alert(1)', 'https://fjord.example/a b', 'HTTP://fjord.example'];
  const { reasons, written } = await importObjects(me, lines.map(customer));
  const refused = [1, 2, 3].map((line) => `${line}: Field(s) not valid: web_address`);
  expect({ reasons: reasons.map((reason) => reason.split('. ', 1)[0]), written }).toEqual({
    reasons: refused,
    written: 0,
  });
  expect(await importObjects(me, [customer('https://fjord.example')])).toMatchObject({ reasons: [], written: 1 });
});

test('a second child with the trigger value is a bad line, whatever its case and blanks are', async () => {
  const me = await createProvider();
  const child = (ref: string, trigger_value: string) => ({
    ...{ kind: 'coursedate', ref, course_id: 'c', start_at: '2027-06-01', end_at: '2027-06-01' },
    ...{ parent_id: '2027-06-01', trigger_value },
  });
  const lines = [course, onDay('2027-06-01'), child('one', 'Økt 1 '), child('two', 'Økt 2')];
  const { reasons } = await importObjects(me, [...lines, child('three', ' økt 1')]);
  expect(reasons).toEqual(['5: Field(s) not valid: trigger_value']);
  expect(await importObjects(me, lines)).toMatchObject({ reasons: [], written: 4 });
  // Of an earlier import, too.
  expect((await importObjects(me, [child('four', 'ØKT 1')])).reasons).toEqual(['1: Field(s) not valid: trigger_value']);
  const { rows } = await shared.database.pool.query<{ value: string }>(
    'select trigger_value as value from course_dates where provider_id = $1 and trigger_value is not null order by id',
    [me.id],
  );
  expect(rows.map(({ value }) => value)).toEqual(['Økt 1', 'Økt 2']);
});

test('an e-mail address is stored without blanks and invisible characters, and an invisible title is missing', async () => {
  const me = await createProvider();
  const lines = [user('a', { email: ' a@x.example\u200b' })];
  expect(await importObjects(me, lines)).toMatchObject({ reasons: [], written: 1 });
  const { rows } = await shared.database.pool.query('select email from course_users where provider_id = $1', [me.id]);
  expect(rows).toEqual([{ email: 'a@x.example' }]);
  const titles = ['\u2060', '\u200b \ufeff', '\u2800'];
  const { reasons } = await importObjects(
    me,
    titles.map((title, n) => ({ kind: 'course', ref: `c${n}`, title })),
  );
  expect(reasons).toEqual(titles.map((_, n) => `${n + 1}: Missing field(s): title`));
});

const refusing = (table: string, condition: string, action: string) => `
  create function refuse_row() returns trigger language plpgsql as $$ begin
    if ${condition} then ${action}; end if;
    return new;
  end $$;
  create trigger refusing before insert on ${table} for each row execute function refuse_row()`;

const userLines = ['a', 'b', 'refused', 'c'].map((ref) => user(ref));
const tagLines = ['a', 'b', 'refused', 'c'].map((title) => ({ kind: 'tag', ref: title, title }));
const ofUser = (action: string) => refusing('course_users', "new.username = 'refused'", action);
const ownRule = "raise exception 'x' using errcode = 'check_violation', constraint = 'own_rule'";
const noUsername = 'null value in column "username" of relation "course_users" violates not-null constraint';

test.each([
  ['an exception', userLines, ofUser("raise exception 'no such person'"), 'Refused by the database: no such person'],
  ['the name of a rule', userLines, ofUser(ownRule), 'Refused by the rule own_rule'],
  ['a missing value', userLines, ofUser('new.username := null'), `Refused by the database: ${noUsername}`],
  ['a value out of range', userLines, ofUser('new.id := 10 ^ 20'), 'A value is out of range'],
  [
    'an exception for a line that its service writes',
    tagLines,
    refusing('tags', "new.title = 'refused'", "raise exception 'no such tag'"),
    'Refused by the database: no such tag',
  ],
])(
  'a line that a trigger refuses by %s is a bad line; those before it are written',
  async (_, lines, trigger, reason) => {
    const name = await ownDatabase();
    const testApp = await openTestApp(openTestDatabase(name));
    onTestFinished(testApp.close);
    await testApp.database.pool.query(trigger);
    const me = await testApp.createProvider();
    const { read, written, reasons } = await importObjects(me, lines, {}, { name });
    expect({ read, written, reasons }).toEqual({ read: 4, written: 2, reasons: [`3: ${reason}`] });
    expect(await readWritten(me, testApp)).toEqual(['a', 'b']);
    // The same file again writes the rest.
    await testApp.database.pool.query(`drop function refuse_row cascade`);
    expect(await importObjects(me, lines, {}, { name })).toMatchObject({ known: 2, written: 2, reasons: [] });
    expect(await readWritten(me, testApp)).toEqual(['a', 'b', 'c', 'refused']);
  },
);
