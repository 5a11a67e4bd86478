import { failedChecks, pause, type Run, type Scenario } from '../scenario.ts';
import { createClient, type Client } from '../support/client.ts';
import { cli, createSchools } from '../support/school.ts';
import { startServer, type Server } from '../support/server.ts';
import { bundle, replaceIn } from '../../support/bundle.ts';

const origin = 'https://school.example';
const [visitors, attackConnections] = [17, 6];
/** Requests of the school in a second. */
const schoolRate = 50;

/** The check of the origin would come after the limits. */
const lateOrigins = replaceIn(
  'late-origins',
  /interfaces\/v2\.ts$/,
  /( *checkOrigins\(app\);\n)([^]*?limitRate\([^\n]*\n)/,
  '$2$1',
);

/** One address might take all requests of the school. */
const wholeBucket = replaceIn(
  'whole-bucket',
  /http\/auth\/rate-limit\.ts$/,
  /const share = [^\n]*\n/,
  'const share = undefined;\n',
);

type Visit = { from: (n: number) => string; origin: string };
const attacks: Record<'visitor' | 'origins', Visit> = {
  visitor: { from: () => '203.0.113.1', origin },
  origins: { from: (n) => `198.51.${100 + (n % 100)}.${1 + (n % 250)}`, origin: 'https://other.example' },
};

const visit = ({ base }: Server, client: Client, from: string, page: string) =>
  client.get(`${base}/v2/courses?limit=5`, { headers: { 'x-forwarded-for': from, origin: page } });

/** Each visitor sends a request a second beside the attack; counts their refused ones and those of the attack. */
async function observe(server: Server, client: Client, attack: Visit, seconds: number) {
  let isOver = false;
  const attacked = { sent: 0, refused: 0, forbidden: 0 };
  const attackers = Array.from({ length: attackConnections }, async () => {
    while (!isOver) {
      attacked.sent += 1;
      const { status } = await visit(server, client, attack.from(attacked.sent), attack.origin);
      if (status === 429) attacked.refused += 1;
      if (status === 403) attacked.forbidden += 1;
      await pause(5);
    }
  });
  // Until the burst of the school would be used up.
  await pause(1_000);
  let [answered, refused] = [0, 0];
  const others = Array.from({ length: visitors }, async (_, n) => {
    await pause((n * 1_000) / visitors);
    for (let second = 0; second < seconds; second += 1) {
      const { status } = await visit(server, client, `192.0.2.${1 + n}`, origin);
      if (status === 200) answered += 1;
      else refused += 1;
      await pause(1_000);
    }
  });
  await Promise.all(others);
  isOver = true;
  await Promise.all(attackers);
  return { answered, refused, attacked };
}

async function prepare(run: Run) {
  const { env, first } = await createSchools(run, { parameters: { fsync: 'off' } });
  const options = ['--provider', String(first.id), '--profile', 'publishable', '--origins', origin];
  const { output } = await cli(env, 'key', 'create', ...options);
  const key = /cbs_\S+|pk_\S+/.exec(output)?.[0];
  if (key === undefined) throw new Error(`no key in ${output}`);
  const client = createClient(key);
  run.onCleanup(client.close);
  const limited = { ...env, LOG_LEVEL: 'error', TRUST_PROXY: '127.0.0.1', RATE_LIMIT_PER_SECOND: String(schoolRate) };
  return { env: limited, client };
}

const scenario: Scenario = {
  name: 'visitors of a publishable key',
  quick: false,
  async run(run) {
    const { env, client } = await prepare(run);
    const seconds = run.quick ? 1 : 10;
    const guarded = await startServer(run, env);
    const one = await observe(guarded, client, attacks.visitor, seconds);
    const origins = await observe(guarded, client, attacks.origins, seconds);

    const ofSchool = { ...env, PUBLISHABLE_RATE_PER_ADDRESS: '0' };
    const quartered = await observe(await startServer(run, ofSchool), client, attacks.visitor, seconds);

    const command = [process.execPath, await bundle('src/main.ts', [lateOrigins, wholeBucket])];
    const unguarded = await startServer(run, ofSchool, { command });
    const control = await observe(unguarded, client, attacks.visitor, seconds);
    const late = await observe(unguarded, client, attacks.origins, seconds);

    const describe = ({ answered, refused }: typeof one) => `${refused} of ${answered + refused}`;
    return {
      figures: `one visitor sends ${one.attacked.sent} requests (${one.attacked.refused} refused): ${describe(one)} of ${visitors} others refused; ${origins.attacked.sent} requests of another origin: ${describe(origins)} refused; with a quarter of the school's limit alone: ${describe(quartered)}; control, without a limit per address: ${describe(control)}; origins checked after the limits: ${describe(late)}`,
      failures: failedChecks({
        [`no other visitor is refused (${describe(one)})`]: one.refused === 0,
        [`nor with a quarter of the limit of the school alone (${describe(quartered)})`]: quartered.refused === 0,
        'the visitor is refused above its limit': one.attacked.refused > 50,
        [`refused origins do not count (${describe(origins)})`]: origins.refused === 0,
        'each request of another origin is 403': origins.attacked.forbidden === origins.attacked.sent,
        [`control: without a limit per address others are refused (${describe(control)})`]: control.refused > 0,
        [`control: refused origins would count (${describe(late)})`]: late.refused > 0,
      }),
    };
  },
};
export default scenario;
