import { expect, test } from 'vitest';
import { execute } from '../../support/booking.ts';
import { allSent, startMailServer, startWorker } from '../../support/mail.ts';
import type { Provider } from '../../support/test-app.ts';
import {
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
} from '../../support/webhooks.ts';

const school = {
  ...{ title: 'Øystese kurs', org_nr: '987654321', phone: '56 55 00 00', email_admin: 'admin@oystese.example' },
  ...{ email_booking: 'booking@oystese.example', post_address: 'Torget 1', post_zip: '5600', post_city: 'Øystese' },
};

type App = Awaited<ReturnType<typeof openWebhookTestApp>>;

/** A school whose only webhook is disabled by the worker. */
async function disabled(testApp: App, status: number, prepare: (me: Provider) => unknown = () => undefined) {
  const me = await testApp.createProvider('Øystese kurs');
  await me.put('/v2/schools', school);
  const receiver = await startReceiver(() => status);
  const { id } = await createWebhook(me, { url: receiver.url });
  await createTag(me, 'One');
  await prepare(me);
  const worker = startWebhookWorker(testApp, { giveUpAfter: 0.3 });
  return { me, id, worker };
}
const isDisabled = async (me: Provider, id: number) =>
  !(await me.get(`/v2/webhooks/${id}`)).json<{ is_active: boolean }>().is_active;

test.each([
  [410, 'en', 'A webhook of your school is switched off', 'sent to 127.0.0.1 any more', 'wants no more messages (410)'],
  [
    500,
    'en',
    'A webhook of your school is switched off',
    'sent to 127.0.0.1 any more',
    'Every attempt has failed for 5 days',
  ],
  [500, 'no', 'En webhook hos skolen din er slått av', 'til 127.0.0.1.', 'Alle forsøk har mislyktes i 5 dager'],
] as const)('after %s the school gets a mail in %s', async (status, language, subject, host, reason) => {
  const testApp = await openWebhookTestApp();
  const { me, id } = await disabled(testApp, status);
  await expect.poll(() => isDisabled(me, id)).toBe(true);
  const server = await startMailServer();
  startWorker(testApp, { to: server.url, language });
  await allSent(testApp);
  const [mail, ...more] = server.received;
  expect(more).toEqual([]);
  expect(mail).toMatchObject({ subject, to: [{ address: 'admin@oystese.example' }] });
  expect(mail!.replyTo).toBeUndefined();
  for (const part of [host, reason]) expect(mail!.text).toContain(part);
  // A token in the URL is not shown.
  expect(mail!.raw).not.toContain('/hooks');
});

test('without an e-mail for administration each administrator gets a mail', async () => {
  const testApp = await openWebhookTestApp();
  const { me, id } = await disabled(testApp, 500, async (school) => {
    for (const email of ['one@people.example', 'two@people.example'])
      await school.post('/v2/admin-users', { email, role_ids: [1], firstname: 'A', lastname: 'B' });
    await execute(
      testApp.name,
      `begin; update provider_state set changed_at = clock_timestamp(), school_changed_at = clock_timestamp()
        where provider_id = ${school.id};
        update provider_state set school_changed_at = changed_at where provider_id = ${school.id};
        update providers set email_admin = '' where id = ${school.id}; commit`,
    );
  });
  await expect.poll(() => isDisabled(me, id)).toBe(true);
  const server = await startMailServer();
  startWorker(testApp, { to: server.url });
  await allSent(testApp);
  // The others are invitations.
  const mails = server.received.filter(({ subject }) => subject?.includes('webhook'));
  const recipients = mails.flatMap(({ to }) => to?.map(({ address }) => address) ?? []);
  expect(recipients.sort()).toEqual(['one@people.example', 'two@people.example']);
});

test('a mail about a webhook that is active again is not sent', async () => {
  const testApp = await openWebhookTestApp();
  const { me, id, worker } = await disabled(testApp, 410);
  await expect.poll(() => isDisabled(me, id)).toBe(true);
  await worker.stop();
  await me.put(`/v2/webhooks/${id}`, { is_active: true });
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await expect.poll(() => log.join('\n')).toContain('its webhook is active again or was deleted');
  expect(server.received).toEqual([]);
});
