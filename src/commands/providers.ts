import { type Command } from 'commander';
import { formatTimestamp } from '../lib/timestamps.ts';
import {
  closeProvider,
  createTitledProvider,
  listProviders,
  openProvider,
} from '../resources/schools/provider-service.ts';
import { command, id, run, table, title, type Options } from './connect.ts';

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
          const created = await createTitledProvider(database, title, parent, undefined, config.SUB_SCHOOLS_MAX);
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
      return { json: rows, text: table(rows, 'No providers yet') };
    }),
  );

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
