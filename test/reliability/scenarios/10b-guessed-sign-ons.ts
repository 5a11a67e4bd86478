import { isDeepStrictEqual } from 'node:util';
import { bundle, replaceIn } from '../../support/bundle.ts';
import { failedChecks, type Run, type Scenario } from '../scenario.ts';
import { cli } from '../support/cli.ts';
import { metricsEnv, readMetrics } from '../support/metrics.ts';
import { createSchools, type School, type Schools } from '../support/school.ts';
import { registerSecret } from '../support/secrets.ts';
import { startServer, type Server } from '../support/server.ts';

const sent = { passwords: 40, usernames: 20, usedLinks: 5, unknownLinks: 50 };
/** Wrong passwords of a username that are checked within 15 minutes. */
const checkedPasswords = 10;
const password = registerSecret('fjord and forest');

const unrecorded = [
  replaceIn('without-password-counts', /sign-on-service\.ts$/, /signOnCounts\.password[^;]+;/g, ''),
  replaceIn('without-link-counts', /session-service\.ts$/, /signOnCounts\.link[^;]+;/, ''),
  replaceIn('without-password-entries', /audit-log\.ts$/, /insertEntry\(on, [^;]+;/, 'Promise.resolve();'),
  replaceIn('without-link-entries', /auth\/session-service\.ts$/, 'if (known) {', 'if (known && known.userId < 0) {'),
];

const scenario: Scenario = {
  name: 'guessed sign-ons',
  quick: false,
  async run(run) {
    const schools = await createSchools(run, { count: 2, parameters: { fsync: 'off' } });
    const command = [process.execPath, await bundle('src/main.ts', unrecorded)];
    const [recording, silent] = await Promise.all([open(run, schools), open(run, schools, command)]);
    const seen = await guess(schools, recording, schools.all[0]!);
    const control = await guess(schools, silent, schools.all[1]!);
    return {
      figures: `${describe(seen)}; control, without the records: ${describe(control)}`,
      failures: [
        ...failedChecks(checkResponses(seen)),
        ...failedChecks(checkRecords(seen)),
        ...failedChecks(checkResponses(control)).map((failure) => `control: ${failure}`),
        ...failedChecks({
          'control: each check of the records detects it': Object.values(checkRecords(control)).every(
            (holds) => !holds,
          ),
        }),
      ],
    };
  },
};
export default scenario;

const open = (run: Run, { env }: Schools, command?: string[]) =>
  startServer(run, { ...env, ...metricsEnv }, command && { command });

const count = (of: number) => Array.from({ length: of }, (_, n) => n);

/** Guesses passwords, usernames and links at once; returns the responses and the records. */
async function guess(schools: Schools, server: Server, school: School) {
  const { username, link } = await createUser(schools, server, school);
  const signOn = (name: string) =>
    school.client.post(`${server.base}/v2/check-user-credentials`, { username: name, password: 'not the password' });
  const openLink = (path: string) => school.client.get(`${server.base}${path}`);
  const [passwords, usernames, usedLinks, unknownLinks] = await Promise.all([
    Promise.all(count(sent.passwords).map(() => signOn(username))),
    Promise.all(count(sent.usernames).map((n) => signOn(`nobody-${n}`))),
    Promise.all(count(sent.usedLinks).map(() => openLink(link))),
    Promise.all(count(sent.unknownLinks).map((n) => openLink(`/my/sign-in/${school.id}_${n}${link.slice(-40)}`))),
  ]);
  const right = await school.client.post(`${server.base}/v2/check-user-credentials`, { username, password });
  return {
    passwords,
    usernames,
    links: [...usedLinks, ...unknownLinks],
    right,
    records: await readRecords(schools, server, school),
  };
}
type Guessed = Awaited<ReturnType<typeof guess>>;

/** A course user with a password, and a link that is used already. */
async function createUser({ env }: Schools, { base }: Server, { id, client, dateIds }: School) {
  const username = `kari-${id}@people.example`;
  const participants = [{ firstname: 'Kari', lastname: 'Nordmann', email: username }];
  await client.post(`${base}/v2/booking`, { coursedate_id: dateIds[0], payment_method: 'invoice', participants });
  const found = await client.get(`${base}/v2/search-users?email=${username}`);
  const [user] = JSON.parse(found.text) as { id: number }[];
  await cli(['user', 'set-password', '--provider', String(id), '--user', String(user!.id)], env, `${password}\n`);
  const signedOn = await client.post(`${base}/v2/check-user-credentials`, {
    username,
    password,
    create_login_url: true,
  });
  const link = new URL((JSON.parse(signedOn.text) as { login_url: string }).login_url).pathname;
  const opened = await client.get(`${base}${link}`);
  if (opened.status !== 303) throw new Error(`not signed in: ${opened.status} ${opened.text}`);
  return { username, link };
}

/** The counters of the process, and the entries of the school in the audit log. */
async function readRecords({ postgres }: Schools, server: Server, { id }: School) {
  const series = await readMetrics(server);
  const toCount = (way: string, result: string) => series(`booking_sign_ons_total{way="${way}",result="${result}"}`);
  const database = await postgres.connect('schools');
  const { rows } = await database.query<{ action: string; count: string; users: string }>(
    `select action, count(*), count(*) filter (where cardinality(item_ids) = 1) as users
      from audit_entries where provider_id = $1 and action ~ ' [(](succeeded|failed)[)]$' group by action`,
    [id],
  );
  await database.end();
  const entries = (action: string) => rows.find((row) => row.action === action);
  const [byPassword, byLink] = ['POST /v2/check-user-credentials', 'GET /my/sign-in/:token'];
  return {
    counters: {
      passwordFailed: toCount('password', 'failed'),
      passwordLimited: toCount('password', 'limited'),
      passwordSucceeded: toCount('password', 'succeeded'),
      linkFailed: toCount('link', 'failed'),
      linkSucceeded: toCount('link', 'succeeded'),
    },
    entries: {
      passwordFailed: Number(entries(`${byPassword} (failed)`)?.count ?? 0),
      passwordFailedOfUser: Number(entries(`${byPassword} (failed)`)?.users ?? 0),
      passwordSucceeded: Number(entries(`${byPassword} (succeeded)`)?.count ?? 0),
      linkFailed: Number(entries(`${byLink} (failed)`)?.count ?? 0),
    },
  };
}

const countStatus = (responses: { status: number }[], status: number) =>
  responses.filter((response) => response.status === status).length;

const checkResponses = ({ passwords, usernames, links, right }: Guessed) => ({
  [`${checkedPasswords} passwords are checked, the others get 429`]:
    countStatus(passwords, 200) === checkedPasswords &&
    countStatus(passwords, 429) === sent.passwords - checkedPasswords,
  'no guess is right': [...passwords, ...usernames].every(({ text }) => !text.includes('"valid":true')),
  'the right password gets 429 too': right.status === 429,
  'each link gets 410': countStatus(links, 410) === links.length,
});

const checkRecords = ({ records: { counters, entries } }: Guessed) => ({
  [`each checked password has an entry (${entries.passwordFailed})`]:
    entries.passwordFailed === checkedPasswords + sent.usernames,
  [`those of a known username name the user (${entries.passwordFailedOfUser})`]:
    entries.passwordFailedOfUser === checkedPasswords,
  [`the successful sign-on has an entry (${entries.passwordSucceeded})`]: entries.passwordSucceeded === 1,
  [`only links that existed have an entry (${entries.linkFailed})`]: entries.linkFailed === sent.usedLinks,
  [`the counters have all of them (${JSON.stringify(counters)})`]: isDeepStrictEqual(counters, {
    passwordFailed: checkedPasswords + sent.usernames,
    passwordLimited: sent.passwords - checkedPasswords + 1,
    passwordSucceeded: 1,
    linkFailed: sent.usedLinks + sent.unknownLinks,
    linkSucceeded: 1,
  }),
});

function describe({ records: { counters, entries } }: Guessed) {
  const counted = `${counters.passwordFailed} failed and ${counters.passwordLimited} limited passwords, ${counters.linkFailed} links counted`;
  return `${counted}, ${entries.passwordFailed} and ${entries.linkFailed} in the audit log`;
}
