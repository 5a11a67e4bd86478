import { readFileSync } from 'node:fs';
import { mailPurposes } from '../../../src/database/tables/outbox.ts';
import { baselineCommit } from '../../support/migrations.ts';
import { failedChecks, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { createClient } from '../support/client.ts';
import { createRecipients, queueEveryMail, startMailServer } from '../support/every-mail.ts';
import { startPostgres, type Postgres } from '../support/postgres.ts';
import { compareArrivals, startReceiver } from '../support/receivers.ts';
import { buildCommit } from '../support/release-build.ts';
import { cli } from '../support/school.ts';
import { firstKey, firstProvider, startServer } from '../support/server.ts';

/** The last build whose servers claim mails of every kind. */
const lastBefore = 'c9100874';

/** The claim of any kind, as it was before. */
const formerClaim = () =>
  /CREATE FUNCTION (claim_mails\(.*?\nEND \$\$;)/s.exec(
    readFileSync('migrations/0001_functions-and-triggers.sql', 'utf8'),
  )![1]!;

type Options = { name: string; folder: string; payload: 'full' | 'thin'; isGuarded: boolean; rounds: number };

/** A server of the build before and one of this build send the mails and messages of one database. */
async function sendBeside(run: Run, postgres: Postgres, { name, folder, payload, isGuarded, rounds }: Options) {
  await postgres.create(name);
  const smtp = await startMailServer(run);
  const env = {
    ...{ DATABASE_URL: postgres.url(name), PUBLIC_URL: 'http://school.example', SMTP_URL: smtp.url },
    ...{ WEBHOOK_ALLOW: '127.0.0.0/8', LOG_FORMAT: 'pretty', ...firstProvider },
  };
  const older = await startServer(run, env, { command: [process.execPath, `${folder}/dist/main.js`] });
  const migrated = await cli(env, 'migrate');
  const database = await postgres.connect(name);
  run.onCleanup(() => database.end());
  if (!isGuarded) await database.query(`CREATE OR REPLACE FUNCTION ${formerClaim()}`);
  const newer = await startServer(run, env);
  const client = createClient(firstKey);
  run.onCleanup(client.close);
  const recipients = await createRecipients(client, newer.base, database);
  const receiver = await startReceiver(run, '127.0.0.1');
  const created = await client.post(`${newer.base}/v2/webhooks`, { url: receiver.url, payload });

  const queued = await queueEveryMail(database, recipients, rounds);
  await database.query(
    `insert into outbox (provider_id, purpose, address, created_at, due_at)
      values (1, 'of_a_later_version', 'later@people.example', now(), now())`,
  );
  const { rows: events } = await database.query<{ id: number }>(
    `insert into events (provider_id, at, resource, change, resource_id)
      select 1, now(), resource, 'updated', 1000000
      from unnest($1::text[]) resource returning id::int as id`,
    [
      [
        'course',
        'coursedate',
        'participant',
        'order',
        'payment',
        'customer',
        'instructor',
        'location',
        'campaign',
        'tag',
      ],
    ],
  );
  const readOpen = async () => {
    const { rows } = await database.query<{ purpose: string; error: string | null; attempts: number }>(
      `select purpose, last_error as error, attempts from outbox where sent_at is null and
        (failed_at is not null or last_error is not null or attempts > 0 or purpose <> 'of_a_later_version')`,
    );
    return rows;
  };
  await waitUntil(async () => (await readOpen()).length === 0, isGuarded ? 60_000 : 20_000);
  const eventIds = events.map(({ id }) => id);
  await waitUntil(() => compareArrivals(receiver, eventIds).lost === 0, 60_000);
  const open = await readOpen();
  const sent = queued.filter(({ id }) => smtp.mailIds.filter((one) => one === id).length === 1);
  const messages = compareArrivals(receiver, eventIds);
  const failures = failedChecks({
    'the command migrates': migrated.code === 0,
    'the webhook is created': created.status === 201,
    'every kind is queued': new Set(queued.map(({ purpose }) => purpose)).size === mailPurposes.length,
    'both servers send mails': [older, newer].every((server) => server.output().includes('is sent')),
    [`each of ${queued.length} mails is sent once (${sent.length})`]: sent.length === queued.length,
    'no mail is sent twice': new Set(smtp.mailIds).size === smtp.mailIds.length,
    [`no mail fails (${open.map(({ purpose, error }) => `${purpose}: ${error}`).join('; ')})`]: open.length === 0,
    [`each message arrives (${messages.lost} are lost, ${messages.repeated} repeated)`]:
      messages.lost + messages.repeated === 0,
  }).map((failure) => `${name}: ${failure}`);
  for (const server of [older, newer]) server.signal('SIGKILL');
  return { queued: queued.length, lost: queued.length - sent.length, failures };
}

const scenario: Scenario = {
  name: 'mails and messages in a rolling upgrade',
  quick: false,
  async run(run) {
    const postgres = await startPostgres(run, { fsync: 'off' });
    const folders = await Promise.all([lastBefore, baselineCommit].map((commit) => buildCommit(run, commit)));
    const [last, first] = folders;
    if (last === undefined || first === undefined)
      return { figures: '', failures: [], skipped: 'the history does not have the builds before' };
    const rounds = run.quick ? 3 : 10;
    const common = { rounds, isGuarded: true };
    const ofLast = await sendBeside(run, postgres, { ...common, name: 'last', folder: last, payload: 'full' });
    const ofFirst = await sendBeside(run, postgres, { ...common, name: 'first', folder: first, payload: 'thin' });
    const control = await sendBeside(run, postgres, {
      ...{ ...common, name: 'control', folder: first, payload: 'thin', isGuarded: false },
    });
    return {
      figures: `${ofLast.queued + ofFirst.queued} mails of ${mailPurposes.length} kinds sent once beside ${lastBefore} and ${baselineCommit}; control: ${control.lost} of ${control.queued} lost where older servers claim every kind`,
      failures: [
        ...ofLast.failures,
        ...ofFirst.failures,
        ...(control.lost === 0 ? ['control: no mail is lost where older servers claim every kind'] : []),
      ],
    };
  },
};
export default scenario;
