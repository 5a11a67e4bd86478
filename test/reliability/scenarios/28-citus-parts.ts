import type { Distributed } from '../../citus/cluster.ts';
import { compareWithPlain } from '../../citus/comparison.ts';
import { distribute } from '../../citus/distribute.ts';
import { moveShard } from '../../citus/moved-shard.ts';
import { stopWorker } from '../../citus/stopped-worker.ts';
import { coordinatorOf } from '../../support/citus-stubs.ts';
import type { Run, Scenario } from '../scenario.ts';
import { startPostgres } from '../support/postgres.ts';
import { settings } from '../support/school.ts';

/** An empty database with stubs of the functions of Citus. */
export async function startStubbed(run: Run) {
  const postgres = await startPostgres(run, { fsync: 'off' });
  await postgres.create('coordinator');
  const { settings: statements, functions } = coordinatorOf('coordinator', settings.timezone);
  const client = await postgres.connect('coordinator');
  await client.query(functions).finally(() => client.end());
  await postgres.execute(...statements);
  const url = postgres.url('coordinator');
  const command = (name: string) =>
    `node --eval "const c = new (require('pg').Client)('${url}');
      c.connect().then(() => c.query('select citus_stubs.${name}()')).then(() => c.end())"`;
  return { url, stopWorker: command('stop_worker'), startWorker: command('start_worker') };
}

const scenario: Scenario = {
  name: 'the parts of test:citus, without Citus',
  quick: false,
  async run(run) {
    let distributed: Distributed | undefined;
    const outcomes = [await distribute(run, await startStubbed(run), (all) => (distributed = all))];
    for (const part of [compareWithPlain, moveShard, stopWorker]) outcomes.push(await part(run, distributed!));
    return {
      figures: outcomes.map(({ figures }) => figures).join('; '),
      failures: outcomes.flatMap(({ failures }) => failures),
    };
  },
};
export default scenario;
