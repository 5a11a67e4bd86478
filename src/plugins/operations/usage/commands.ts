import type { Command } from 'commander';
import { listUsage } from './report.ts';
import { command, id, run, table, timestamp, type Options } from '../../../interfaces/cli/run.ts';

type UsageOptions = Options & { provider?: number; since?: string };

export function usageCommand(program: Command) {
  command(
    program,
    'usage',
    'Show the requests, bookings, rows and storage of each provider, the busiest first; a server stores its counts every hour',
  )
    .option('--provider <id>', 'only this provider; shares are still of all', id)
    .option('--since <date>', 'from the hour of this time on, in the service time zone; default 7 days ago', timestamp)
    .action((options: UsageOptions) =>
      run(
        options,
        async ({ database, getCtx }) => {
          const { provider = null, since = new Date(Date.now() - 7 * 86_400_000).toISOString() } = options;
          if (provider !== null) await getCtx(provider);
          const usages = await listUsage(database, since, provider);
          return { json: usages, text: table(usages, 'No providers yet') };
        },
        { statementMs: 300_000 },
      ),
    );
}
