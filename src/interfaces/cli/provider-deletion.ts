import type { Command } from 'commander';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Problem } from '../../core/errors.ts';
import { normalizeTitle } from '../../core/text.ts';
import { deleteSchool, findDeletable } from '../../domains/records/school-deletion/service.ts';
import { closeProvider, openProvider } from '../../domains/school/schools/provider-service.ts';
import { command, id, run, type CommandContext, type CommandResult, type Options } from './run.ts';

type DeleteOptions = Options & { yes?: true; keepOrders?: true; export?: string | false };

export function deleteCommand(provider: Command) {
  const refuse = () =>
    deletion.error('error: specify either --export or --no-export', { code: 'commander.conflictingOption' });
  const about = 'Delete a provider with all of its data, after an export; run again to continue';
  const deletion: Command = command(provider, 'delete', about)
    .argument('<id>', 'id of the provider', id)
    .option('--yes', 'do not ask for the title')
    .option('--keep-orders', 'keep what its invoices need')
    .option<string | false>(
      '--export <file>',
      'new file of the export; default provider-<id>.ndjson',
      (file, former) => (former === false ? refuse() : file),
    )
    .option<string | false>('--no-export', 'write no export', (_, former) => (former ? refuse() : false));
  deletion.action((providerId: number, options: DeleteOptions) =>
    run(options, (context) => deleteProvider(context, providerId, options), {
      ...{ statementMs: 600_000, writeMs: 60_000 },
    }),
  );
}

async function deleteProvider(
  context: CommandContext,
  providerId: number,
  options: DeleteOptions,
): Promise<CommandResult> {
  const { database } = context;
  const found = await findDeletable(database, providerId);
  if (!options.yes) await confirmTitle(providerId, found.title);
  // What is left of an interrupted deletion is not the whole school.
  const file =
    found.isBegun || options.export === false ? null : await exportBefore(context, providerId, options, found);
  const keepOrders = options.keepOrders ?? false;
  const rows = await deleteSchool(database, providerId, { keepOrders });
  const count = `${rows.toLocaleString('en')} rows`;
  const deleted = keepOrders
    ? `Deleted ${count} of provider ${providerId}; its orders stay`
    : `Deleted provider ${providerId}: ${count}`;
  const text = file === null ? deleted : `${deleted}\nThe export is ${file}`;
  return { json: { provider_id: providerId, rows, export: file, orders_kept: keepOrders }, text };
}

async function confirmTitle(providerId: number, title: string) {
  process.stderr.write(`All data of provider ${providerId} will be deleted. Its title: `);
  const lines = createInterface({ input: process.stdin });
  const [line] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string | undefined];
  lines.close();
  if (!process.stdin.isTTY) process.stderr.write('\n');
  process.stdin.destroy();
  if (normalizeTitle(line ?? '') !== normalizeTitle(title))
    throw new Problem('invalid', `This is not the title of provider ${providerId}; nothing was deleted`);
}

/** With the provider closed, so that the export has everything. */
async function exportBefore(
  context: CommandContext,
  providerId: number,
  { plugins, export: named }: DeleteOptions,
  { isClosed }: { isClosed: boolean },
) {
  const { database, getCtx } = context;
  const exporting = plugins.find(({ exportProvider }) => exportProvider)?.exportProvider;
  if (!exporting) throw new Problem('invalid', 'No plugin writes an export: use --no-export');
  const file = named || `provider-${providerId}.ndjson`;
  let version: string | undefined;
  const onCreated = async () => {
    if (!isClosed) await closeProvider(database, providerId);
    version = await awaitWrites(context, providerId);
  };
  try {
    await exporting(database, providerId, file, { onCreated });
    if ((await getCtx(providerId)).version === version) return file;
    throw new Problem('unavailable', `Data was written during the export: delete ${file} and run the command again`);
  } catch (error) {
    if (!isClosed) await openProvider(database, providerId);
    throw error;
  }
}

/** Takes the lock behind the writes that began before the provider was closed. Returns the version after the last one. */
async function awaitWrites({ database, getCtx }: CommandContext, providerId: number) {
  for (let version: string | undefined; ;) {
    const { version: before } = await getCtx(providerId);
    if (before === version) return version;
    version = before;
    await database.write([providerId], ['school'], (tx) => Promise.resolve(tx.rollbackNoChange(null)));
  }
}
