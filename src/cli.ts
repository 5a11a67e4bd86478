#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { auditCommands } from './commands/audit.ts';
import { command, id, moment, print, run, slug, table, title, type Options } from './commands/connect.ts';
import { userCommands } from './commands/users.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exchangeCommands } from './commands/import-export.ts';
import { mailCommands } from './commands/mail.ts';
import { readConfig } from './config.ts';
import { dateTimeOrNull } from './lib/timestamps.ts';
import { Problem } from './core/errors.ts';
import { migrateDatabase } from './database/migrate.ts';
import { describeError } from './runtime/describe-error.ts';
import { createDemo } from './runtime/first-start.ts';
import { raiseOomScore } from './runtime/oom-score.ts';
import { openStore, waitForDatabase } from './runtime/store.ts';
import { packageVersion } from './runtime/version.ts';
import { addCategory, listCategories } from './resources/courses/category-service.ts';
import { categorizeCourse } from './resources/courses/service.ts';
import { createKey, listKeys, revokeKey } from './resources/auth/key-service.ts';
import { approvePartner, listPartners, requestPartner, revokePartner } from './resources/schools/partner-service.ts';
import {
  closeProvider,
  createTitledProvider,
  listProviders,
  openProvider,
} from './resources/schools/provider-service.ts';

/** What operators type; each command calls the services that the interfaces call. */

let usage = '';
const program = new Command('cli')
  .description('Operates the course booking service: its database, providers, keys, partners and categories.')
  .version(packageVersion())
  .exitOverride()
  .configureOutput({ writeErr: (text) => (usage += text) });

command(program, 'migrate', "Bring the database's tables up to date").action(async (options: Options) => {
  const config = readConfig(process.env);
  raiseOomScore(config);
  const store = await openStore(config, () => undefined);
  try {
    await waitForDatabase(store.database, config.DATABASE_CONNECT_TIMEOUT_MS);
    const { applied } = await migrateDatabase(store.connection);
    print(options.json, {
      json: { applied },
      text: applied === 0 ? 'Up to date already' : `Applied ${applied} migrations`,
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
        throw new Problem('invalid', 'The demo data goes into an empty database only; this one has providers');
      return { json: { api_key: apiKey }, text: `Loaded the demo data. API key of the demo school: ${apiKey}` };
    },
    { mayCreate: true },
  ),
);

const provider = program.command('provider').description('Schools and companies, each with data and keys of its own');

command(provider, 'create', 'Make a provider with its first key, which is shown once')
  .requiredOption('--title <title>', 'its title', title)
  .option('--parent <id>', 'the provider it is a sub-school of', id)
  .action((options: Options & { title: string; parent?: number }) =>
    run(
      options,
      async ({ config, database }) => {
        const created = await createTitledProvider(database, options.title, options.parent ?? null);
        const text = [
          `Provider ${created.providerId} with the key ${created.apiKey}`,
          'The key is shown only now. Try it:',
          `  curl -H 'X-API-Key: ${created.apiKey}' ${config.PUBLIC_URL}/v2/schools`,
        ].join('\n');
        return { json: { provider_id: created.providerId, api_key: created.apiKey }, text };
      },
      { mayCreate: true },
    ),
  );

command(provider, 'list', 'All providers, by id').action((options: Options) =>
  run(options, async ({ database }) => {
    const found = await listProviders(database);
    const rows = found.map((row) => ({
      ...row,
      created_at: dateTimeOrNull(row.created_at),
      closed_at: dateTimeOrNull(row.closed_at),
    }));
    return { json: rows, text: table(rows, 'No providers yet') };
  }),
);

for (const [name, description, act, state] of [
  [
    'close',
    'Reject all keys, sessions and links of a provider from the next request on; its data stays',
    closeProvider,
    'closed',
  ],
  ['open', 'Undo close', openProvider, 'open'],
] as const) {
  command(provider, name, description)
    .argument('<id>', 'the id of the provider', id)
    .action((providerId: number, options: Options) =>
      run(options, async ({ database }) => {
        await act(database, providerId);
        return { json: { provider_id: providerId, state }, text: `Provider ${providerId} is ${state}` };
      }),
    );
}

const key = program.command('key').description("A provider's API keys");

command(key, 'create', 'Make a further key, which is shown once')
  .requiredOption('--provider <id>', 'whose key', id)
  .option('--label <label>', 'what it is for', title)
  .option('--expires <date>', 'when it stops working, in the service time zone', moment)
  .action((options: Options & { provider: number; label?: string; expires?: string }) =>
    run(options, async ({ getCtx }) => {
      const created = await createKey(await getCtx(options.provider), options);
      const expired = created.isExpired ? ' It has expired already: it opens nothing.' : '';
      const text = `Key ${created.keyId}: ${created.apiKey}\nIt is shown only now.${expired}`;
      return { json: { key_id: created.keyId, api_key: created.apiKey }, text };
    }),
  );

command(key, 'list', "A provider's keys, without the keys themselves")
  .requiredOption('--provider <id>', 'whose keys', id)
  .action((options: Options & { provider: number }) =>
    run(options, async ({ getCtx }) => {
      const rows = (await listKeys(await getCtx(options.provider))).map((row) => ({
        ...row,
        created_at: dateTimeOrNull(row.created_at),
        expires_at: dateTimeOrNull(row.expires_at),
        revoked_at: dateTimeOrNull(row.revoked_at),
        last_used_at: dateTimeOrNull(row.last_used_at),
      }));
      return { json: rows, text: table(rows, 'No keys') };
    }),
  );

command(key, 'revoke', 'Make a key wrong from the next request on')
  .argument('<id>', 'the id of the key', id)
  .action((keyId: number, options: Options) =>
    run(options, async ({ database }) => {
      await revokeKey(database, keyId);
      return { json: { key_id: keyId }, text: `Key ${keyId} is revoked` };
    }),
  );

const partner = program
  .command('partner')
  .description('Who may list whose public courses; approved for A on B: A lists B');
const pair = (name: string, description: string) =>
  command(partner, name, description)
    .requiredOption('--provider <id>', 'A: the one that lists', id)
    .requiredOption('--partner <id>', 'B: the one whose items are listed', id);
type Pair = Options & { provider: number; partner: number };

for (const [name, description, act] of [
  ['request', 'Ask for a connection', requestPartner],
  ['approve', 'Let A list the public items of B', approvePartner],
  ['revoke', 'End it at once', revokePartner],
] as const) {
  pair(name, description).action((options: Pair) =>
    run(options, async ({ database }) => {
      const status = await act(database, options.provider, options.partner);
      const text = `The connection of ${options.provider} to ${options.partner} is ${status}`;
      return { json: { provider_id: options.provider, partner_id: options.partner, status }, text };
    }),
  );
}

command(partner, 'list', 'All connections').action((options: Options) =>
  run(options, async ({ database }) => {
    const rows = await listPartners(database);
    return { json: rows, text: table(rows, 'No partner connections') };
  }),
);

const course = program.command('course').description('What staff do with courses');
command(course, 'categorize', 'Put a course into a category of the catalog')
  .requiredOption('--provider <id>', 'whose course', id)
  .requiredOption('--course <id>', 'the course', id)
  .requiredOption('--category <id>', 'the category', id)
  .action((options: Options & { provider: number; course: number; category: number }) =>
    run(options, async ({ getCtx }) => {
      await categorizeCourse(await getCtx(options.provider), options.course, options.category);
      const json = { provider_id: options.provider, course_id: options.course, category_id: options.category };
      return { json, text: `Course ${options.course} is in category ${options.category}` };
    }),
  );

const category = program.command('category').description('The categories of the catalog, shared by all providers');
command(category, 'list', 'All categories').action((options: Options) =>
  run(options, async ({ database }) => {
    const rows = await listCategories(database);
    return { json: rows, text: table(rows, 'No categories yet') };
  }),
);
command(category, 'add', 'Add a category')
  .requiredOption('--title <title>', 'its title', title)
  .option('--parent <id>', 'the category it belongs under', id)
  .option('--slug <slug>', 'its part of addresses; made from the title unless given', slug)
  .action((options: Options & { title: string; parent?: number; slug?: string }) =>
    run(options, async ({ database }) => {
      const categoryId = await addCategory(database, { ...options, parentId: options.parent ?? null });
      return { json: { category_id: categoryId }, text: `Category ${categoryId}: ${options.title}` };
    }),
  );

userCommands(program);
auditCommands(program);
exchangeCommands(program);
mailCommands(program);
doctorCommand(program);

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return;
    console.error(
      error.code === 'commander.help' ? 'error: missing command; --help lists them' : usage.trim().split('\n')[0],
    );
    process.exitCode = 2;
    return;
  }
  console.error(`error: ${describeError(error)}`);
  process.exitCode = 1;
});
