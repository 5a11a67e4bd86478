import type { Command } from 'commander';
import { auditEntries } from '../audit/service.ts';
import { command, count, id, moment, run, table, type Options } from './connect.ts';

type ListOptions = Options & { provider?: number; since?: string; limit: number };

/** Who changed what, and when. */
export function auditCommands(program: Command) {
  const audit = program.command('audit').description('Who changed what: keys, people on their pages, operators');
  command(audit, 'list', 'Entries, the newest first; never what was sent')
    .option('--provider <id>', 'of this provider only', id)
    .option('--since <date>', 'from that moment on, in the service time zone', moment)
    .option('--limit <count>', 'so many at most', count, 100)
    .action((options: ListOptions) =>
      run(options, async ({ database, getCtx }) => {
        const { provider = null, since = null, limit } = options;
        if (provider !== null) await getCtx(provider);
        const entries = await auditEntries(database, { providerId: provider, since, limit });
        const rows = entries.map((entry) => ({ ...entry, item_ids: entry.item_ids.join(',') || null }));
        return { json: entries, text: table(rows, 'No entries') };
      }),
    );
}
