import type { Command } from 'commander';
import { listAuditEntries } from '../../database/audit-log.ts';
import { command, count, id, run, table, timestamp, type Options } from './run.ts';

type ListOptions = Options & { provider?: number; since?: string; limit: number };

export function auditCommands(program: Command) {
  const audit = program.command('audit').description('Audit log of changes by API keys, users and operators');
  command(audit, 'list', 'List entries, newest first; submitted values are not recorded')
    .option('--provider <id>', 'only entries of this provider', id)
    .option('--since <date>', 'only entries from this time on, in the service time zone', timestamp)
    .option('--limit <count>', 'maximum number of entries', count, 100)
    .action((options: ListOptions) =>
      run(options, async ({ database, getCtx }) => {
        const { provider = null, since = null, limit } = options;
        if (provider !== null) await getCtx(provider);
        const entries = await listAuditEntries(database, { providerId: provider, since, limit });
        const rows = entries.map((entry) => ({ ...entry, item_ids: entry.item_ids.join(',') || null }));
        return { json: entries, text: table(rows, 'No entries') };
      }),
    );
}
