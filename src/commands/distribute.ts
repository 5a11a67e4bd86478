import type { Command } from 'commander';
import { Client } from 'pg';
import { Problem } from '../core/errors.ts';
import { distribute, findObstacles } from '../database/distribution.ts';
import { checkCounters } from '../doctor/examine.ts';
import { command, run, type CommandContext, type CommandResult, type Options } from './connect.ts';

export function distributeCommand(program: Command) {
  command(program, 'distribute', 'Distribute the tables by school over the servers of a Citus cluster').action(
    (options: Options) => run(options, distributeTables),
  );
}

async function distributeTables({ config, database, connection }: CommandContext): Promise<CommandResult> {
  const client = new Client({ ...connection, application_name: 'course-booking-service distribute' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
  try {
    const obstacles = await findObstacles(client, config.TIMEZONE);
    if (obstacles.length > 0) throw new Problem('invalid', obstacles.join('; '));
    await assertNoDifference(database, 'nothing was distributed: run `doctor --fix` first');
    const { copied, distributed } = await distribute(client);
    await assertNoDifference(database, 'the tables are distributed: restore the backup');
    const count = copied.length + distributed.length;
    const text =
      count === 0
        ? 'All tables are distributed already'
        : `Distributed ${distributed.length} tables by school, and copied ${copied.length} to each server. Start the servers with DATABASE_DISTRIBUTED=true`;
    return { json: { distributed, copied }, text };
  } finally {
    await client.end();
  }
}

/** A row that is counted twice while it is copied causes no error. */
async function assertNoDifference(database: CommandContext['database'], consequence: string) {
  const { differences } = await checkCounters(database, {});
  if (differences.length > 0)
    throw new Problem('invalid', `doctor finds ${differences.length} differences, and ${consequence}`);
}
