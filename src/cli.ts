#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { auditCommands } from './commands/audit.ts';
import { backupCommands } from './commands/backup.ts';
import { configCommand } from './commands/config.ts';
import { command, id, print, run, slug, table, title, type Options } from './commands/connect.ts';
import { userCommands } from './commands/users.ts';
import { doctorCommand } from './commands/doctor.ts';
import { importExportCommands } from './commands/import-export.ts';
import { keyCommands } from './commands/keys.ts';
import { mailCommands } from './commands/mail.ts';
import { upgradeDatabaseCommand } from './commands/upgrade-database.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { readConfig } from './config.ts';
import { formatTimestamp } from './lib/timestamps.ts';
import { Problem } from './core/errors.ts';
import { migrateDatabase } from './database/migrate.ts';
import { assertReleaseIsSupported } from './database/releases.ts';
import { describeError } from './runtime/describe-error.ts';
import { createDemo } from './runtime/first-start.ts';
import { raiseOomScore } from './runtime/oom-score.ts';
import { openStore, waitForDatabase } from './runtime/store.ts';
import { packageVersion } from './runtime/version.ts';
import { addCategory, listCategories } from './resources/courses/category-service.ts';
import { categorizeCourse } from './resources/courses/service.ts';
import { approvePartner, listPartners, requestPartner, revokePartner } from './resources/schools/partner-service.ts';
import {
  closeProvider,
  createTitledProvider,
  listProviders,
  openProvider,
} from './resources/schools/provider-service.ts';

let usageError = '';
const program = new Command('cli')
  .description('Operates the course booking service: its database, providers, keys, partners and categories.')
  .version(packageVersion())
  // Else `backup` would take the options of `backup list`.
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ writeErr: (text) => (usageError += text) });

command(program, 'migrate', 'Apply pending database migrations').action(async (options: Options) => {
  const config = readConfig(process.env);
  raiseOomScore(config);
  const store = await openStore(config, () => undefined);
  try {
    await waitForDatabase(store.database, config.DATABASE_CONNECT_TIMEOUT_MS);
    await assertReleaseIsSupported(store.database.pool);
    const { applied } = await migrateDatabase(store.connection);
    print(options.json, {
      json: { applied },
      text: applied === 0 ? 'Already up to date' : `Applied ${applied} migrations`,
    });
  } finally {
    await store.close();
  }
});

command(program, 'demo', 'Load the demo data into an empty database').action((options: Options) =>
  run(
    options,
    async ({ config, database }) => {
      const apiKey = await createDemo(config, database);
      if (apiKey === null)
        throw new Problem('invalid', 'The demo data needs an empty database; this one has providers');
      return { json: { api_key: apiKey }, text: `Loaded the demo data. API key of the demo school: ${apiKey}` };
    },
    { createEmbedded: true },
  ),
);

const provider = program.command('provider').description('Schools and companies, each with its own data and API keys');

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

keyCommands(program);

const partner = program
  .command('partner')
  .description('Partner connections: with an approved one, provider A lists the public items of partner B');
const pairCommand = (name: string, description: string) =>
  command(partner, name, description)
    .requiredOption('--provider <id>', 'provider A, which lists', id)
    .requiredOption('--partner <id>', 'partner B, whose items are listed', id);
type PairOptions = Options & { provider: number; partner: number };

for (const [name, description, setStatus] of [
  ['request', 'Request a connection', requestPartner],
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

const course = program.command('course').description('Courses of a provider');
command(course, 'categorize', 'Assign a course to a category of the catalog')
  .requiredOption('--provider <id>', 'provider of the course', id)
  .requiredOption('--course <id>', 'id of the course', id)
  .requiredOption('--category <id>', 'id of the category', id)
  .action((options: Options & { provider: number; course: number; category: number }) =>
    run(options, async ({ getCtx }) => {
      await categorizeCourse(await getCtx(options.provider), options.course, options.category);
      const json = { provider_id: options.provider, course_id: options.course, category_id: options.category };
      return { json, text: `Assigned course ${options.course} to category ${options.category}` };
    }),
  );

const category = program.command('category').description('Categories of the catalog, shared by all providers');
command(category, 'list', 'List all categories').action((options: Options) =>
  run(options, async ({ database }) => {
    const rows = await listCategories(database);
    return { json: rows, text: table(rows, 'No categories yet') };
  }),
);
command(category, 'add', 'Add a category')
  .requiredOption('--title <title>', 'title of the category', title)
  .option('--parent <id>', 'id of the parent category', id)
  .option('--slug <slug>', 'part of the URL; derived from the title by default', slug)
  .action((options: Options & { title: string; parent?: number; slug?: string }) =>
    run(options, async ({ database }) => {
      const categoryId = await addCategory(database, { ...options, parentId: options.parent ?? null });
      return { json: { category_id: categoryId }, text: `Added category ${categoryId}: ${options.title}` };
    }),
  );

userCommands(program);
auditCommands(program);
importExportCommands(program);
mailCommands(program);
webhookCommands(program);
doctorCommand(program);
configCommand(program, process.env);
backupCommands(program);
upgradeDatabaseCommand(program);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return;
    console.error(
      error.code === 'commander.help' ? 'error: missing command; --help lists them' : usageError.trim().split('\n')[0],
    );
    process.exitCode = 2;
    return;
  }
  console.error(`error: ${describeError(error, process.stderr.isTTY)}`);
  process.exitCode = 1;
});
