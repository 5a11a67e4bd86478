import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedStatement, Value } from '../support/record-statements.ts';
import type { Subject } from './database.ts';

/** A value of the recorded statement and the SQL that replaces it. */
export type Variable = { sample: string; sql: string };

export type Script = { script: string; constants: string[] };

/** True for the statement that locks a provider; its name ends with the areas of the write. */
export const isLock = ({ name }: RecordedStatement) => name?.startsWith('lock_provider') ?? false;

/**
 * A pgbench script of these statements and the constants that it needs. `before` sets its variables; result columns of
 * the `named` statements become variables.
 */
export function createScript(
  statements: RecordedStatement[],
  variables: Variable[],
  named: string[],
  before: string[],
): Script {
  const constants: string[] = [];
  const valueOf = (value: Value): string => {
    if (value === null || value === undefined) return 'null';
    const text = Array.isArray(value) ? `{${value.join(',')}}` : String(value);
    const exact = variables.find(({ sample }) => sample === text);
    if (exact) return exact.sql;
    // pgbench does not support empty variables.
    if (text === '') return "''";
    constants.push(text);
    const found = variables.filter(({ sample }) => text.includes(sample));
    const sql = found.reduce((inner, one) => `replace(${inner}, '${one.sample}', ${one.sql})`, `:c${constants.length}`);
    return found.length > 0 && text.startsWith('[') ? `(${sql})::json` : sql;
  };
  const lines = statements.flatMap(({ name, text, values }) => {
    const ending = named.includes(name ?? '') ? ' \\gset' : ';';
    const bound = values.map(valueOf);
    const sql = text.replace(/\$(\d+)/g, (_all, n: string) => bound[Number(n) - 1]!);
    // The service sends these in one round trip, for which pgbench needs a pipeline.
    const parts = sql.split('; ');
    const ended = parts.map((part) => `${part.replaceAll('\n', ' ')}${ending}`);
    return parts.length > 1 ? ['\\startpipeline', ...ended, '\\endpipeline'] : ended;
  });
  return { script: [...before, ...lines, ''].join('\n'), constants };
}

/** Runs the script with prepared statements. */
export async function pgbench({ socket }: Subject, { script, constants }: Script, clients: number, seconds: number) {
  const folder = mkdtempSync(join(tmpdir(), 'booking-pgbench-'));
  const file = join(folder, 'script.sql');
  writeFileSync(file, script);
  const defined = constants.flatMap((value, n) => ['-D', `c${n + 1}=${value}`]);
  const args = ['-n', '-M', 'prepared', '-h', socket.host, '-U', socket.user, '-f', file];
  args.push('-c', String(clients), '-j', '1', '-T', String(seconds), ...defined, socket.name);
  try {
    const output = await run('pgbench', args);
    const figure = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? NaN);
    const figures = {
      perSecond: figure(/^tps = ([\d.]+)/m),
      count: figure(/^number of transactions actually processed: (\d+)/m),
    };
    if (figure(/^number of failed transactions: (\d+)/m) > 0) throw new Error(output);
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Same session settings as the service's. */
const sessionOptions = '-c random_page_cost=1.1 -c TimeZone=Europe/Oslo';

function run(command: string, args: string[]) {
  return new Promise<string>((done, failed) => {
    execFile(
      command,
      args,
      { maxBuffer: 1e8, env: { ...process.env, PGOPTIONS: sessionOptions } },
      (error, stdout, stderr) => {
        if (!error) done(stdout);
        else if (error.code === 'ENOENT')
          failed(new Error(`${command} is missing: apt-get install postgresql-contrib`));
        else failed(new Error(`${command} failed: ${stderr.slice(-2_000)}`));
      },
    );
  });
}
