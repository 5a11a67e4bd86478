import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { Value } from '@sinclair/typebox/value';
import { Problem } from '../../core/errors.ts';
import { normalizeTitle } from '../../core/text.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import { deleteSchool, findDeletable } from '../../domains/records/school-deletion/service.ts';
import { CatalogSettingsChange } from '../../domains/school/catalog-settings/body-schema.ts';
import { updateCatalogSettings } from '../../domains/school/catalog-settings/service.ts';
import { approvePartner, listPartners, revokePartner } from '../../domains/school/schools/partner-service.ts';
import {
  closeProvider,
  createTitledProvider,
  getRootId,
  listProviders,
  openProvider,
  setProviderLimit,
} from '../../domains/school/schools/service.ts';
import { command, count, id, run, table, title, type CommandContext, type Options, type CommandResult } from './run.ts';

type LimitOptions = Options & { perSecond?: number; burst?: number; none?: true };

export function providerCommands(program: Command) {
  const provider = program
    .command('provider')
    .description('Schools and companies, each with its own data and API keys');

  command(provider, 'create', 'Create a provider with its first API key, which is printed only once')
    .requiredOption('--title <title>', 'title of the provider', title)
    .option('--parent <id>', 'parent provider of a sub-school', id)
    .action((options: Options & { title: string; parent?: number }) =>
      run(
        options,
        async ({ config, database }) => {
          const { title, parent = null } = options;
          const created = await createTitledProvider(database, title, parent);
          const text = [
            `Created provider ${created.providerId} with the API key ${created.apiKey}`,
            'The key is printed only once. Try it:',
            `  curl -H 'X-API-Key: ${created.apiKey}' ${config.PUBLIC_URL}/v2/schools`,
          ].join('\n');
          return { json: { provider_id: created.providerId, api_key: created.apiKey }, text };
        },
        { createEmbedded: true },
      ),
    );

  command(provider, 'list', 'List all providers by id').action((options: Options) =>
    run(options, async ({ database }) => {
      const providers = await listProviders(database);
      const rows = providers.map((row) => ({
        ...row,
        created_at: formatTimestamp(row.created_at),
        closed_at: formatTimestamp(row.closed_at),
      }));
      const cells = rows.map((row) => ({ ...row, is_deleted: row.is_deleted ? 'yes' : null }));
      return { json: rows, text: table(cells, 'No providers yet') };
    }),
  );

  limitCommand(provider);
  hostCommand(provider);
  deleteCommand(provider);
  stateCommands(provider);
}

function stateCommands(provider: Command) {
  for (const [name, description, setState, state] of [
    [
      'close',
      'Reject all keys, sessions and links of a provider (effective immediately); its data stays',
      closeProvider,
      'closed',
    ],
    ['open', 'Reopen a closed provider', openProvider, 'open'],
  ] as const) {
    command(provider, name, description)
      .argument('<id>', 'id of the provider', id)
      .action((providerId: number, options: Options) =>
        run(options, async ({ database }) => {
          await setState(database, providerId);
          return { json: { provider_id: providerId, state }, text: `Provider ${providerId} is ${state}` };
        }),
      );
  }
}

const hostName = (text: string) => {
  if (!Value.Check(CatalogSettingsChange.properties.host, text))
    throw new InvalidArgumentError('It must be a host name in lower case, such as courses.example.com.');
  return text;
};

function hostCommand(provider: Command) {
  command(provider, 'host', "Set the host name of a school's public catalog, or remove it")
    .argument('<id>', 'id of the provider', id)
    .argument('[name]', 'host name that points to this server', hostName)
    .option('--none', 'no host name of its own')
    .action((providerId: number, name: string | undefined, options: Options & { none?: true }) =>
      run(options, async ({ getCtx }) => {
        if ((name === undefined) !== (options.none === true))
          throw new Problem('invalid', 'Name a host name, or --none');
        const { host } = await updateCatalogSettings(await getCtx(providerId), { host: name ?? null });
        return {
          json: { provider_id: providerId, host },
          text: `The catalog host of provider ${providerId}: ${host ?? 'none'}`,
        };
      }),
    );
}

function limitCommand(provider: Command) {
  command(provider, 'limit', 'Set a rate limit of its own for a provider and its sub-schools, or remove it')
    .argument('<id>', 'id of the provider', id)
    .addOption(new Option('--per-second <count>', 'requests a second').argParser(count))
    .addOption(new Option('--burst <count>', 'requests at once; default twice as many').argParser(count))
    .addOption(new Option('--none', "the server's limit again").conflicts(['perSecond', 'burst']))
    .action((providerId: number, options: LimitOptions) => run(options, limitProvider(providerId, options)));
}

const limitProvider =
  (providerId: number, { perSecond, burst, none }: LimitOptions) =>
  async ({ database }: CommandContext) => {
    if (perSecond === undefined && !none) throw new Problem('invalid', 'Name --per-second, or --none');
    const limit = perSecond === undefined ? null : { perSecond, burst: burst ?? 2 * perSecond };
    if (limit !== null && limit.burst < limit.perSecond)
      throw new Problem('invalid', '--burst must be at least --per-second');
    const rootId = await getRootId(database, providerId);
    if (rootId !== providerId)
      throw new Problem('invalid', `A sub-school has the limit of its root, provider ${rootId}`);
    await setProviderLimit(database, providerId, limit);
    const text = limit ? `${limit.perSecond} requests a second, ${limit.burst} at once` : "the server's limit";
    return {
      json: { provider_id: providerId, per_second: limit?.perSecond ?? null, burst: limit?.burst ?? null },
      text: `Provider ${providerId} has ${text}, in every process within 10 seconds`,
    };
  };

type DeleteOptions = Options & { yes?: true; keepOrders?: true; export?: string | false };

function deleteCommand(provider: Command) {
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

/** Exports the provider, which is closed meanwhile, so that the export has everything. */
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
    await database.write([providerId], ['school'], ({ tx }) => Promise.resolve(tx.rollBack(null)));
  }
}

type PairOptions = Options & { provider: number; partner: number };

export function partnerCommands(program: Command) {
  const partner = program
    .command('partner')
    .description('Partner connections: with an approved one, provider A lists the public items of partner B');
  const pairCommand = (name: string, description: string) =>
    command(partner, name, description)
      .requiredOption('--provider <id>', 'provider A, which lists', id)
      .requiredOption('--partner <id>', 'partner B, whose items are listed', id);

  for (const [name, description, setStatus] of [
    ['approve', 'Allow A to list the public items of B', approvePartner],
    ['revoke', 'Revoke a connection (effective immediately)', revokePartner],
  ] as const) {
    pairCommand(name, description).action((options: PairOptions) =>
      run(options, async ({ database }) => {
        const status = await setStatus(database, options.provider, options.partner);
        const text = `The connection of ${options.provider} to ${options.partner} is ${status}`;
        return { json: { provider_id: options.provider, partner_id: options.partner, status }, text };
      }),
    );
  }

  command(partner, 'list', 'List all connections').action((options: Options) =>
    run(options, async ({ database }) => {
      const rows = await listPartners(database);
      return { json: rows, text: table(rows, 'No partner connections') };
    }),
  );
}
