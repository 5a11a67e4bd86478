import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { blocksOf, type Language } from './documented-samples.ts';
import { temporaryFolder } from './processes.ts';
import { succeeds } from './programs.ts';

/** The invoicing program of docs/guides/invoicing.md in one language. */
export type Program = { language: Language; extension: string; command: string[]; isInstalled: boolean };
const program = (language: Language, extension: string, command: string[], check: string): Program => ({
  ...{ language, extension, command: [...command, `invoice.${extension}`], isInstalled: succeeds(check) },
});
export const programs: Program[] = [
  program('php', 'php', ['php', '-d', 'display_errors=stdout'], `php -r 'exit(!function_exists("curl_init"));'`),
  program('ts', 'mts', [resolve('node_modules/.bin/tsx')], 'true'),
  program('python', 'py', ['python3', '-B', '-W', 'error'], 'python3 --version'),
];
export const [, typescript, python] = programs as [Program, Program, Program];

/** Writes the program, changed by `change`, and its client; returns the folder. */
export function writeProgram({ language, extension }: Program, change = (text: string) => text) {
  const folder = temporaryFolder();
  for (const [page, file] of [
    ['docs/guides/clients.md', `client.${extension}`],
    ['docs/guides/invoicing.md', `invoice.${extension}`],
  ] as const) {
    const text = blocksOf(page, language).find((block) => block.split('\n')[0]!.includes(file))!;
    writeFileSync(join(folder, file), file.startsWith('invoice') ? change(text) : text);
  }
  return folder;
}

export type InvoiceDocument = { id: number; kind: string; amount: string; payer: string };
type Run = { cwd: string; key: string; port: number; killed?: boolean };

/** Runs the program, or kills it after its first document; returns its output. */
export async function runProgram({ command: [file, ...args] }: Program, { cwd, key, port, killed = false }: Run) {
  const { PATH = '', HOME = '/' } = process.env;
  const env = { PATH, HOME, BASE_URL: `http://127.0.0.1:${port}`, KEY: key, PYTHONUNBUFFERED: '1' };
  const child = spawn(file!, args, { cwd, env });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
    if (killed) child.kill('SIGKILL');
  });
  child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 && !(killed && code === null)) throw new Error(`${file} ended with ${code}: ${output}${errors}`);
  return output;
}

export const readDocuments = (output: string): InvoiceDocument[] =>
  [...output.matchAll(/^(\d+) (invoice|credit note of \d+): (-?\d+\.\d\d) to (.*)$/gm)].map(
    ([, id, kind, amount, payer]) => ({ id: Number(id), kind: kind!, amount: amount!, payer: payer! }),
  );
