import { Value } from '@sinclair/typebox/value';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { Problem } from '../../core/errors.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import { CatalogSettingsChange } from '../../domains/school/catalog-settings/body-schema.ts';
import { updateCatalogSettings } from '../../domains/school/catalog-settings/service.ts';
import {
  closeProvider,
  createTitledProvider,
  getRootId,
  listProviders,
  openProvider,
  setProviderLimit,
} from '../../domains/school/schools/provider-service.ts';
import { deleteCommand } from './provider-deletion.ts';
import { command, count, id, run, table, title, type CommandContext, type Options } from './run.ts';

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
