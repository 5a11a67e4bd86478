import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { stringify } from 'csv-stringify';
import { Problem } from '../core/errors.ts';
import type { Database } from '../database/client.ts';
import { exportLines } from '../import-export/export.ts';
import { importLines, type Allowed, type ImportSummary } from '../import-export/import.ts';
import { csvColumns, flatKinds } from '../import-export/record-types/index.ts';
import { csvLines, jsonLines } from '../import-export/lines.ts';
import { toSettings } from '../runtime/store.ts';
import { command, id, run, type Answer, type Options } from './connect.ts';

/** One connection, since the lines of an import wait in its session; and patience, since they may be a million. */
const patient = { poolSize: 1, idleMs: 0, statementMs: 600_000, writeMs: 60_000 };

const flatKind = (text: string) => {
  if (!flatKinds.includes(text)) throw new InvalidArgumentError(`It must be one of ${flatKinds.join(', ')}.`);
  return text;
};
/** More bad lines are only counted. */
const maxReported = 50;

const allowed = (text: string) => {
  const names = text.split(',');
  if (!names.every((name) => ['partners', 'categories'].includes(name)))
    throw new InvalidArgumentError('It must be partners, categories or both with a comma between.');
  return names as Allowed[];
};

const kindText = `what the lines of a .csv file are: ${flatKinds.join(', ')}`;
type FileOptions = Options & { provider: number; kind?: string };

/** Getting a provider's data in and out. */
export function exchangeCommands(program: Command) {
  command(program, 'import', 'Read a file of lines into a provider; a line that is there already is passed over')
    .argument('<file>', 'one JSON object a line, or a .csv file')
    .requiredOption('--provider <id>', 'whose data it is', id)
    .option('--kind <kind>', kindText, flatKind)
    .option('--allow <names>', 'let the file approve partners, or add shared categories: partners,categories', allowed)
    .option('--dry-run', 'check the whole file and write nothing')
    .action((file: string, options: FileOptions & { dryRun?: boolean; allow?: Allowed[] }) => {
      const kind = csvKind(file, options);
      if (!existsSync(file)) throw new Problem('invalid', `There is no file ${file}`);
      return run(
        options,
        async ({ config, database }) => {
          const lines = kind === undefined ? jsonLines(file) : csvLines(file, kind);
          const dryRun = options.dryRun === true;
          let reported = 0;
          const summary = await importLines(database, toSettings(config), options.provider, lines, {
            dryRun,
            allow: options.allow ?? [],
            onBadLine: ({ line, reason, expected }) => {
              reported += 1;
              const form = expected === undefined ? '' : ` (expected ${expected})`;
              if (reported <= maxReported) console.error(`line ${line}: ${reason}${form}`);
            },
            ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
          });
          if (reported > maxReported) console.error(`and ${(reported - maxReported).toLocaleString('en')} more`);
          return importAnswer(summary, dryRun);
        },
        patient,
      );
    });

  command(program, 'export', "Write a provider's data to a file that import reads")
    .argument('[file]', 'a new file; provider-<id>.ndjson unless given')
    .requiredOption('--provider <id>', 'whose data', id)
    .option('--kind <kind>', kindText, flatKind)
    .action((given: string | undefined, options: FileOptions) => {
      const file = given ?? `provider-${options.provider}.ndjson`;
      const kind = csvKind(file, options);
      return run(options, async ({ database, getCtx }) => {
        await getCtx(options.provider);
        return writeFile(database, options.provider, file, kind);
      });
    });
}

/** Undefined for a file of JSON lines, which may hold every kind. */
function csvKind(file: string, { kind }: FileOptions) {
  const isCsv = file.toLowerCase().endsWith('.csv');
  if (isCsv && kind === undefined) throw new Problem('invalid', 'A .csv file needs --kind');
  if (!isCsv && kind !== undefined)
    throw new Problem('invalid', '--kind is for .csv files; in others each line says it');
  return kind;
}

const counted = (count: number, what = 'line') => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

function showProgress({ read, known, written, bad }: ImportSummary) {
  process.stderr.write(`\r${counted(read)} read, ${known} known, ${written} written, ${bad} bad `);
}

function importAnswer(summary: ImportSummary, dryRun: boolean): Answer {
  const { read, known, written, bad } = summary;
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (bad > 0) {
    const failure =
      written > 0
        ? `${counted(written)} written before ${counted(bad)} refused; mend and import the file again, what is written is passed over`
        : `${bad.toLocaleString('en')} bad of ${counted(read)}; nothing was written`;
    return { json: summary, text: '', failure };
  }
  const text = dryRun
    ? `${counted(read)} checked, ${known} of them known already; nothing was written`
    : `${counted(written)} written, ${known} known already`;
  return { json: summary, text };
}

/** Readable by its owner alone, since it holds the hashes of passwords; whole or not there at all. */
async function writeFile(database: Database, providerId: number, file: string, kind?: string): Promise<Answer> {
  if (existsSync(file)) throw new Problem('invalid', `${file} exists already; it is not written over`);
  let lines = 0;
  async function* texts() {
    for await (const line of exportLines(database, providerId, kind)) {
      lines += 1;
      yield `${JSON.stringify(line)}\n`;
    }
  }
  async function* records() {
    for await (const line of exportLines(database, providerId, kind)) {
      lines += 1;
      yield line;
    }
  }
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  const output = createWriteStream(partial, { mode: 0o600 });
  try {
    if (kind === undefined) await pipeline(Readable.from(texts()), output);
    else
      await pipeline(
        Readable.from(records()),
        stringify({
          header: true,
          columns: csvColumns(kind),
          cast: { boolean: String, object: (value) => JSON.stringify(value) },
        }),
        output,
      );
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  return {
    json: { file, lines },
    text: `${counted(lines)} written to ${file}, readable by you alone: it may hold password hashes`,
  };
}
