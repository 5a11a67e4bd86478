import { faultsOf, type Row } from '../row.ts';
import { clientOf } from '../support/client.ts';
import { startPostgres } from '../support/postgres.ts';
import { firstKey, firstProvider, startServer, stop } from '../support/server.ts';

const row: Row = {
  name: 'SIGTERM under load',
  quick: true,
  async run(run) {
    const postgres = await startPostgres(run);
    await postgres.create('school');
    const env = { DATABASE_URL: postgres.url('school'), ...firstProvider };
    const server = await startServer(run, env);
    const client = clientOf(firstKey);
    run.afterwards(client.close);
    const { status } = await client.get(`${server.base}/v2/courses`);
    const code = await stop(server);
    return {
      figures: `ready in ${Math.round(server.readyAfter)} ms, ${status}, exit ${code}`,
      faults: faultsOf({ 'exit 0': code === 0, 'answers 200': status === 200 }),
    };
  },
};
export default row;
