import { failedChecks, pause, waitUntil, type Run, type Scenario } from '../scenario.ts';
import { cli } from '../support/cli.ts';
import { createClient } from '../support/client.ts';
import { createSchools, type Schools } from '../support/school.ts';
import { startServer } from '../support/server.ts';

const message = 'Use https: an API key must not be sent over plain http';
const publicUrl = 'https://school.example';

const scenario: Scenario = {
  name: 'keys over plain http',
  quick: true,
  async run(run) {
    const schools = await createSchools(run, { parameters: { fsync: 'off' } });
    const strict = { REQUIRE_HTTPS: 'true', PUBLIC_URL: publicUrl };
    const [trusting, distrusting, accepting] = await Promise.all([
      open(run, schools, { ...strict, TRUST_PROXY: '127.0.0.1' }),
      open(run, schools, { ...strict, TRUST_PROXY: '192.0.2.7' }),
      open(run, schools, { PUBLIC_URL: publicUrl, TRUST_PROXY: '127.0.0.1' }),
    ]);
    const refused = [
      await trusting.write({ 'x-forwarded-proto': 'http' }),
      await trusting.write({ 'x-forwarded-proto': 'https, http' }),
      await trusting.write({}),
      await distrusting.write({ 'x-forwarded-proto': 'https' }),
    ];
    // Its use would be stored after the response.
    await pause(500);
    const unused = [await trusting.read(), await distrusting.read()];
    const accepted = await trusting.write({ 'x-forwarded-proto': 'https' });
    const control = await accepting.write({ 'x-forwarded-proto': 'http' });
    const isUsed = async () => [await trusting.read(), await accepting.read()].every(({ uses }) => uses === 1);
    const usedMs = await waitUntil(isUsed, 10_000);
    const wrong = refused.filter(({ status, text }) => status !== 403 || text !== JSON.stringify({ error: message }));
    return {
      figures: `${refused.length - wrong.length} of ${refused.length} writes over plain http refused, ${sum(unused, 'courses')} done; control, without REQUIRE_HTTPS: ${control.status}`,
      failures: failedChecks({
        [`writes over plain http are 403 (${wrong.map(({ status }) => status).join()})`]: wrong.length === 0,
        'they write nothing, and the key counts as unused': sum(unused, 'courses') === 0 && sum(unused, 'uses') === 0,
        'the log names the key': [trusting, distrusting].every(({ isLogged }) => isLogged()),
        [`over https behind a trusted proxy the write succeeds (${accepted.status})`]: accepted.status === 201,
        [`control: without REQUIRE_HTTPS it succeeds over http (${control.status})`]: control.status === 201,
        'control: a used key has its last use': usedMs < Infinity,
        'control: nothing is logged then': !accepting.isLogged(),
      }),
    };
  },
};
export default scenario;

const sum = <K extends string>(rows: Record<K, number>[], name: K) => rows.reduce((total, row) => total + row[name], 0);

/** A server with those settings, and a key of its own. */
async function open(run: Run, { env, first, postgres }: Schools, settings: Record<string, string>) {
  const options = ['--provider', String(first.id), '--json'];
  const created = await cli<{ key_id: number; api_key: string }>(['key', 'create', ...options], env);
  const client = createClient(created.api_key);
  run.onCleanup(client.close);
  const title = `Written with key ${created.key_id}`;
  const server = await startServer(run, { ...env, ...settings });
  const database = await postgres.connect('schools');
  run.onCleanup(() => database.end());
  return {
    write: (headers: Record<string, string>) =>
      client.post(
        `${server.base}/v2/courses`,
        { title },
        { headers: { 'content-type': 'application/json', ...headers } },
      ),
    async read() {
      const { rows } = await database.query<{ courses: string; uses: string }>(
        `select (select count(*) from courses where title = $1) as courses,
          (select count(*) from api_key_uses where key_id = $2) as uses`,
        [title, created.key_id],
      );
      return { courses: Number(rows[0]!.courses), uses: Number(rows[0]!.uses) };
    },
    isLogged: () => server.output().includes('An API key was sent over plain http: rotate it'),
  };
}
