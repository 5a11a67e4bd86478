#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { describeError } from './database/describe-error.ts';
import { describeVersion } from './core/project.ts';
import type { CommandGroup } from './interfaces/plugin/define-plugin.ts';
import { plugins } from './plugins.ts';

/** Only the commands of the first argument are loaded: all of them take half a second. */
const groups: CommandGroup[] = [
  { names: ['migrate'], load: async () => (await import('./interfaces/cli/migrate.ts')).migrateCommand },
  { names: ['provider'], load: async () => (await import('./interfaces/cli/providers.ts')).providerCommands },
  { names: ['key'], load: async () => (await import('./interfaces/cli/keys.ts')).keyCommands },
  { names: ['partner'], load: async () => (await import('./interfaces/cli/providers.ts')).partnerCommands },
  {
    names: ['course', 'category'],
    load: async () => (await import('./interfaces/cli/categories.ts')).categoryCommands,
  },
  { names: ['user'], load: async () => (await import('./interfaces/cli/users.ts')).userCommands },
  { names: ['audit'], load: async () => (await import('./interfaces/cli/audit.ts')).auditCommands },
  { names: ['config'], load: async () => (await import('./interfaces/cli/config.ts')).configCommand },
  ...plugins.flatMap(({ commands = [] }) => commands),
];

let usageError = '';
const program = new Command('cli')
  .description('Operates the course booking service: its database, providers, keys, partners and categories.')
  .version(describeVersion())
  .setOptionValue('plugins', plugins)
  // Else `backup` would take the options of `backup verify`.
  .enablePositionalOptions()
  .exitOverride()
  .configureOutput({ writeErr: (text) => (usageError += text) });

const requested = groups.filter(({ names }) => names.includes(process.argv[2] ?? ''));
for (const { load } of requested.length > 0 ? requested : groups) (await load())(program);

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
