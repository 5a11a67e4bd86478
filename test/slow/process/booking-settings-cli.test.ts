import { expect, inject, test } from 'vitest';
import { databaseUrl, runCli } from '../../support/processes.ts';
import { sharedTestApp } from '../../support/test-app.ts';

const testApp = await sharedTestApp();
const env = { DATABASE_URL: databaseUrl(inject('shared')) };
const runFor = (id: number) => (settings: string[], json: string[]) =>
  runCli(
    ['provider', 'booking-settings', String(id), ...settings.flatMap((setting) => ['--set', setting]), ...json],
    env,
  );

test('booking settings are shown and changed as by the interface', async () => {
  const me = await testApp.createProvider();
  const run = runFor(me.id);
  const read = async () => (await me.get('/v2/booking-settings')).json();
  expect((await run([], ['--json'])).json()).toEqual(await read());

  const footer = 'Bring shoes = fun.\nSee you';
  const settings = ['self_cancellation=true', 'late_cancellation=fee', 'language=no', 'mails.reminder=true'];
  const texts = [`texts.en.footer=${footer}`, 'texts.en.reply_to=kurs@school.example', 'texts.no.greeting=Hei'];
  const changed = (await run([...settings, ...texts], ['--json'])).json();
  expect(changed).toMatchObject({
    ...{ self_cancellation: true, late_cancellation: 'fee', language: 'no', mails: { reminder: true, offer: true } },
    texts: { en: { footer, reply_to: 'kurs@school.example', greeting: null }, no: { greeting: 'Hei' } },
  });
  expect(changed).toEqual(await read());
  const { stdout } = await run([], []);
  expect(stdout).toMatch(/^late_cancellation +fee$/m);
  expect(stdout).toMatch(/^texts\.en\.footer +"Bring shoes = fun\.\\nSee you"$/m);
  expect(stdout).toMatch(/^texts\.en\.greeting +-$/m);

  const reset = ['language=', 'mails.reminder=', 'mails.offer=no', 'texts.en.footer='];
  expect((await run(reset, ['--json'])).json()).toMatchObject({
    ...{ self_cancellation: true, language: null, mails: { reminder: false, offer: false } },
    texts: { en: { footer: null, reply_to: 'kurs@school.example' } },
  });
});

test.each([
  ['mails.remind=true', "There is no setting 'mails.remind'; the settings are self_cancellation, "],
  ['mails', "There is no setting 'mails'"],
  ['updated_at=2027-01-01', "There is no setting 'updated_at'"],
  ['__proto__.x=1', "There is no setting '__proto__.x'"],
  ['language', 'Write language= and the value.'],
  ['self_cancellation=maybe', 'self_cancellation must be true or false.'],
  ['self_cancellation=', 'self_cancellation must be true or false.'],
  ['late_cancellation=never', 'late_cancellation must be no or fee.'],
  ['mails.reminder=maybe', 'mails.reminder must be true, false or empty.'],
  ['texts.en.reply_to=school', 'texts.en.reply_to must be an e-mail address or empty.'],
  [`texts.no.footer=${'a'.repeat(2_001)}`, 'texts.no.footer must be a text of at most 2000 characters or empty.'],
])('--set %.40s is refused, and changes nothing', async (setting, reason) => {
  const me = await testApp.createProvider();
  const result = await runFor(me.id)(['texts.en.greeting=Hello', setting], []);
  expect([result.code, result.stdout]).toEqual([2, '']);
  expect(result.stderr).toContain(reason);
  expect((await me.get('/v2/booking-settings')).json()).toMatchObject({ updated_at: null });
});

test('a setting is set once, of a provider that exists', async () => {
  const me = await testApp.createProvider();
  const twice = await runFor(me.id)(['language=no', 'language=en'], []);
  expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('language is set twice.')]);
  expect(await runFor(999_999_999)([], [])).toMatchObject({ code: 1, stdout: '' });
});
