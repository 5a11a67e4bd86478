import { type Command } from 'commander';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Problem } from '../core/problem.ts';
import { isChoosable } from '../resources/passwords/schema.ts';
import { setPassword } from '../resources/passwords/service.ts';
import { command, id, run, type Options } from './connect.ts';

/** What operators do with course users. */
export function userCommands(program: Command) {
  const user = program.command('user').description('Course users, who sign on with a username and a password');
  command(user, 'set-password', 'Give a course user another password, read from standard input up to its line end')
    .requiredOption('--provider <id>', 'whose course user', id)
    .requiredOption('--user <id>', 'the course user', id)
    .action(async (options: Options & { provider: number; user: number }) => {
      const password = await readPassword();
      if (!isChoosable(password)) throw new Problem('invalid', 'A password must have 8 to 200 characters');
      await run(options, async ({ ctxOf }) => {
        await setPassword(await ctxOf(options.provider), options.user, password);
        const text = `Course user ${options.user} has another password; their sessions have ended`;
        return { json: { user_id: options.user }, text };
      });
    });
}

/** On a terminal it is asked for, and not shown while it is typed. */
const readPassword = () => (process.stdin.isTTY ? askFor('Password: ') : firstLine());

/** Of standard input, without a byte order mark; bytes that are no UTF-8 could never be typed again. */
async function firstLine() {
  const parts: Buffer[] = [];
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    if (part.includes('\n')) break;
  }
  const all = Buffer.concat(parts);
  const end = all.indexOf('\n');
  try {
    const line = new TextDecoder('utf-8', { fatal: true }).decode(end < 0 ? all : all.subarray(0, end));
    return line.replace(/\r$/, '');
  } catch {
    throw new Problem('invalid', 'The password must be written in UTF-8');
  }
}

async function askFor(question: string) {
  const { stdin, stderr } = process;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true });
  stderr.write(question);
  try {
    const [line] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string | undefined];
    return line ?? '';
  } finally {
    lines.close();
    stdin.destroy();
    stderr.write('\n');
  }
}
