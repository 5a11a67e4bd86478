import { expect, test } from 'vitest';
import { mailCheck } from '../../../src/plugins/delivery/watched.ts';
import { retryMails } from '../../../src/plugins/delivery/mail/service.ts';
import {
  createTag,
  createWebhook,
  openWebhookTestApp,
  startReceiver,
  startWebhookWorker,
} from '../../support/webhooks.ts';
import {
  eventually,
  forced,
  invite,
  openMailTestApp,
  readOutbox,
  startMailServer,
  startWorker,
} from '../../support/mail.ts';
import type { Provider } from '../../support/test-app.ts';

/** Mails of a kind that a later version may have. */
const queueLater = (me: Provider, purpose: string, count = 1) =>
  forced(
    me,
    `insert into outbox (provider_id, purpose, address, created_at, due_at)
      select ${me.id}, '${purpose}', 'later@people.example', now(), now() from generate_series(1, ${count})`,
  );

test('mails of unknown kinds wait, and known ones pass them', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueLater(me, 'later_kind', 30);
  await queueLater(me, 'notice_later', 30);
  await invite(me, 'staff@school.example');
  const server = await startMailServer();
  const { log } = startWorker(testApp, { to: server.url });
  await eventually(() => expect(server.received).toHaveLength(1));
  await new Promise((done) => setTimeout(done, 2_500));
  const unsent = (await readOutbox(testApp)).filter(({ sent }) => !sent);
  expect(unsent.map(({ attempts, last_error, failed }) => [attempts, last_error, failed])).toEqual(
    Array.from({ length: 60 }, () => [0, null, false]),
  );
  expect(log.filter((line) => !line.startsWith('info'))).toEqual([]);

  // Negative control: the claim of any kind, as of the builds before.
  const any = `select id from claim_mails(5, '{}', '{}', '{}', (select array_agg(distinct purpose) from outbox))`;
  expect((await testApp.database.pool.query(any)).rows).toHaveLength(5);
});

test('servers of before the first new kinds claim the kinds of that time alone', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueLater(me, 'booking_link');
  await queueLater(me, 'later_kind');
  await invite(me, 'staff@school.example');
  const claim = `select c.id from claim_mails(5, '{}', '{}', '{}') c`;
  const mails = await readOutbox(testApp);
  expect((await testApp.database.pool.query(claim)).rows).toEqual([{ id: mails[2]!.id }]);
});

test('doctor names mails that failed in a server that did not know their kind, and a retry takes them', async () => {
  const testApp = await openMailTestApp();
  const me = await testApp.createProvider();
  await queueLater(me, 'booking_link');
  await queueLater(me, 'booking_receipt');
  await invite(me, 'staff@school.example');
  // As older builds have left them.
  await forced(
    me,
    `update outbox set attempts = 1, failed_at = now(), last_error = case purpose
    when 'booking_receipt' then 'Cannot destructure property ''subject'' of ''composeOpening(...)'' as it is undefined.'
    when 'booking_link' then 'There is no e-mail address to send it to' else '550 5.1.1 No such user' end`,
  );
  const findings = await mailCheck.run({ pool: testApp.database.pool, config: {} as never });
  expect(findings).toContainEqual({
    level: 'warning',
    message:
      'Mails have failed in a server that did not know their kind (booking_link, booking_receipt): `mail retry --all-failed`',
  });
  await forced(me, `update outbox set failed_at = now() - interval '30 days' where purpose = 'booking_link'`);
  expect(await mailCheck.run({ pool: testApp.database.pool, config: {} as never })).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('(booking_receipt)') as string }),
  );
  expect(await retryMails(testApp.database, 'failed')).toMatchObject({ retried: 3 });
  expect((await mailCheck.run({ pool: testApp.database.pool, config: {} as never })).map(({ level }) => level)).toEqual(
    ['ok'],
  );
});

test.each([
  ['resource', 'later', 'created'],
  ['change', 'tag', 'later'],
])(
  'a message of an unknown %s waits, is no failure, and those after it keep their order',
  async (_, resource, change) => {
    const testApp = await openWebhookTestApp();
    const me = await testApp.createProvider();
    const receiver = await startReceiver();
    const { id } = await createWebhook(me, { url: receiver.url });
    await createTag(me, 'One');
    await forced(
      me,
      `insert into events (provider_id, at, resource, change, resource_id)
      values (${me.id}, now(), '${resource}', '${change}', 1)`,
    );
    await createTag(me, 'Two');
    const { log } = startWebhookWorker(testApp, { unknownPause: 0.1 });
    await expect.poll(() => receiver.types()).toEqual(['tag.created']);
    await new Promise((done) => setTimeout(done, 1_000));
    expect(receiver.types()).toEqual(['tag.created']);
    expect((await me.get(`/v2/webhooks/${id}`)).json<object>()).toMatchObject({ failing_since: null, is_active: true });
    expect(log.filter((line) => !line.startsWith('info'))).toEqual([]);

    // As if a newer server had sent it.
    await forced(me, `delete from events where change = 'later' or resource = 'later'`);
    await expect.poll(() => receiver.types()).toEqual(['tag.created', 'tag.created']);
  },
);
