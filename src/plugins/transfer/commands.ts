import { existsSync, renameSync, rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { stringify } from 'csv-stringify';
import { getErrorCode } from '../../core/database-errors.ts';
import { Problem } from '../../core/errors.ts';
import type { Database } from '../../database/client.ts';
import { exportLines } from './export.ts';
import { importLines, type AllowedScope, type ImportSummary } from './import.ts';
import { csvColumns, csvRecordTypes } from './record-types/index.ts';
import { csvLines } from './csv-lines.ts';
import { jsonLines } from './lines.ts';
import { toSettings } from '../../core/config.ts';
import { command, id, run, type CommandResult, type Options } from '../../interfaces/cli/run.ts';
import type { ExportOptions } from '../../interfaces/plugin/define-plugin.ts';

/** One session holds the lock of the import; the timeouts allow for a million lines. */
const importSession = { poolSize: 1, idleMs: 0, statementMs: 600_000, writeMs: 60_000 };

const flatKind = (text: string) => {
  if (!csvRecordTypes.includes(text)) throw new InvalidArgumentError(`It must be one of ${csvRecordTypes.join(', ')}.`);
  return text;
};
/** Further invalid lines are only counted. */
const maxReported = 50;

const allowed = (text: string) => {
  const names = text.split(',');
  if (!names.every((name) => ['partners', 'categories'].includes(name)))
    throw new InvalidArgumentError('It must be partners, categories or both with a comma between.');
  return names as AllowedScope[];
};

const kindHelp = `record type of a .csv file: ${csvRecordTypes.join(', ')}`;
type FileOptions = Options & { provider: number; kind?: string };

export function importExportCommands(program: Command) {
  command(program, 'import', 'Import a file into a provider; lines that were imported before are skipped')
    .argument('<file>', 'JSON lines (one object per line), or a .csv file')
    .requiredOption('--provider <id>', 'provider to import into', id)
    .option('--kind <kind>', kindHelp, flatKind)
    .option(
      '--allow <names>',
      'allow the file to approve partners or add shared categories: partners,categories',
      allowed,
    )
    .option('--skip-changed', 'skip lines that were imported before with other values instead of refusing them')
    .option('--dry-run', 'validate the whole file without writing')
    .action(
      (file: string, options: FileOptions & { dryRun?: boolean; skipChanged?: boolean; allow?: AllowedScope[] }) => {
        const kind = csvKind(file, options);
        if (!existsSync(file)) throw new Problem('invalid', `File not found: ${file}`);
        return run(
          options,
          async ({ config, database }) => {
            const lines = kind === undefined ? jsonLines(file) : csvLines(file, kind);
            const dryRun = options.dryRun === true;
            let reported = 0;
            const summary = await importLines(database, toSettings(config), options.provider, lines, {
              dryRun,
              allow: options.allow ?? [],
              skipChanged: options.skipChanged === true,
              onBadLine: ({ line, reason, expected }) => {
                reported += 1;
                const hint = expected === undefined ? '' : ` (expected ${expected})`;
                if (reported <= maxReported) console.error(`line ${line}: ${reason}${hint}`);
              },
              ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
            });
            if (reported > maxReported) console.error(`and ${(reported - maxReported).toLocaleString('en')} more`);
            return importResult(summary, dryRun);
          },
          importSession,
        );
      },
    );

  command(program, 'export', "Write a provider's data to a file that import reads")
    .argument('[file]', 'new file; default provider-<id>.ndjson')
    .requiredOption('--provider <id>', 'provider to export', id)
    .option('--kind <kind>', kindHelp, flatKind)
    .action((fileArgument: string | undefined, options: FileOptions) => {
      const file = fileArgument ?? `provider-${options.provider}.ndjson`;
      const kind = csvKind(file, options);
      return run(options, async ({ database, getCtx }) => {
        await getCtx(options.provider);
        return exportFile(database, options.provider, file, { kind });
      });
    });
}

/** Undefined for JSON lines, where each line has its own kind. */
function csvKind(file: string, { kind }: FileOptions) {
  const isCsv = file.toLowerCase().endsWith('.csv');
  if (isCsv && kind === undefined) throw new Problem('invalid', 'A .csv file needs --kind');
  if (!isCsv && kind !== undefined)
    throw new Problem('invalid', '--kind is only for .csv files; JSON lines contain their kind');
  return kind;
}

const counted = (count: number) => `${count.toLocaleString('en')} line${count === 1 ? '' : 's'}`;

function showProgress({ read, known, written, bad }: ImportSummary) {
  process.stderr.write(`\r${counted(read)} read, ${known} skipped, ${written} written, ${bad} invalid `);
}

function importResult(summary: ImportSummary, dryRun: boolean): CommandResult {
  const { read, known, written, bad } = summary;
  if (process.stderr.isTTY) process.stderr.write('\n');
  if (bad > 0) {
    const failure =
      written > 0
        ? `${counted(written)} written before ${counted(bad)} failed; correct the file and import it again, written lines are skipped`
        : `${bad.toLocaleString('en')} of ${counted(read)} invalid; nothing was written`;
    return { json: summary, text: '', failure };
  }
  const text = dryRun
    ? `${counted(read)} valid, ${known} of them already imported; nothing was written`
    : `${counted(written)} written, ${known} already imported`;
  return { json: summary, text };
}

async function openNew(file: string) {
  await rm(file, { force: true });
  return open(file, 'wx', 0o600);
}

/** Writes atomically with mode 0600, because the file contains password hashes. */
export async function exportFile(
  database: Database,
  providerId: number,
  file: string,
  { kind, onCreated }: ExportOptions & { kind?: string | undefined } = {},
): Promise<CommandResult> {
  if (existsSync(file)) throw new Problem('invalid', `${file} already exists and is not overwritten`);
  let lines = 0;
  async function* countedLines() {
    for await (const line of exportLines(database, providerId, kind)) {
      lines += 1;
      yield line;
    }
  }
  const encoder =
    kind === undefined
      ? async function* (records: AsyncIterable<unknown>) {
          for await (const record of records) yield `${JSON.stringify(record)}\n`;
        }
      : stringify({
          // Without it, Excel reads the file in another encoding.
          bom: true,
          header: true,
          columns: csvColumns(kind),
          cast: { boolean: String, object: (value) => JSON.stringify(value) },
        });
  const partial = `${file}.partial`;
  const output = await openNew(partial).catch((cause: unknown) => {
    throw new Problem('invalid', `${file} cannot be written (${getErrorCode(cause)})`, { cause });
  });
  try {
    await onCreated?.();
    await pipeline(Readable.from(countedLines()), encoder, output.createWriteStream());
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  return {
    json: { file, lines },
    text: `${counted(lines)} written to ${file}, readable only by its owner, because it may contain password hashes`,
  };
}
