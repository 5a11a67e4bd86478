import type { Command } from 'commander';
import type { Config } from '../../core/config.ts';
import { toFileVariable } from '../../core/config/declare.ts';
import type { Source } from '../../core/config/read.ts';
import { command, print, readEnvironment, table, type Options } from './run.ts';

export function configCommand(program: Command) {
  command(program, 'config', 'Print the configuration in force and the source of each value, without secrets').action(
    (options: Options) => {
      const config = readEnvironment(options);
      const variables = describeConfig(config);
      const rows = variables.map(({ name, value, source, from }) => ({
        name,
        value: value === null ? '-' : String(value),
        source: from === undefined ? source : `${source} ${from}`,
      }));
      const warnings = config.warnings.map((warning) => `Warning: ${warning}`);
      print(options.json, {
        json: { variables, warnings: config.warnings },
        text: [table(rows, ''), ...warnings].join('\n'),
      });
    },
  );
}

type Described = { name: string; value: string | number | boolean | null; source: Source['kind']; from?: string };

/** The variables with their values in force, also those that follow from others; null without one. */
export function describeConfig(config: Config): Described[] {
  const declarations = Object.entries(config.declarations);
  const files = declarations.filter(([, { secret }]) => secret).map(([name]) => toFileVariable(name));
  return declarations
    .filter(([name]) => !files.includes(name))
    .map(([name, { secret }]) => {
      const value = (config.values[name] ?? null) as Described['value'];
      const { kind, name: from } = config.sources[name]!;
      return {
        name,
        value: secret && value !== null ? mask(String(value)) : value,
        source: kind,
        ...(from && { from }),
      };
    });
}

/** Leaves only the host and the path of the address of a server. */
function mask(secret: string) {
  if (!/^(postgres(ql)?|smtps?):\/\//.test(secret) || !URL.canParse(secret)) return '***';
  const { protocol, username, password, host, pathname, search, hash } = new URL(secret);
  // A password with a sign that should be percent-encoded reaches into these.
  if (`${pathname}${search}${hash}`.includes('@')) return '***';
  return `${protocol}//${username || password ? '***@' : ''}${host}${pathname}${search || hash ? '?***' : ''}`;
}
