import { type Command } from 'commander';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Problem } from '../core/errors.ts';
import { invite } from '../mail/service.ts';
import { isChoosable } from '../resources/auth/password-schema.ts';
import { setPassword } from '../resources/auth/password-service.ts';
import { renameAdminUser } from '../resources/admin-users/service.ts';
import { command, id, run, title, type Options } from './connect.ts';

type RenameOptions = Options & { provider: number; adminUser: number; firstname: string; lastname: string };
type InviteOptions = Options & { provider: number; user?: number; adminUser?: number };

/** What operators do with people. */
export function userCommands(program: Command) {
  const user = program.command('user').description('People who sign on with a username and a password');
  command(user, 'set-password', 'Give a course user another password, read from standard input up to its line end')
    .requiredOption('--provider <id>', 'whose course user', id)
    .requiredOption('--user <id>', 'the course user', id)
    .action(async (options: Options & { provider: number; user: number }) => {
      const password = await readPassword();
      if (!isChoosable(password)) throw new Problem('invalid', 'A password must have 8 to 200 characters');
      await run(options, async ({ getCtx }) => {
        await setPassword(await getCtx(options.provider), options.user, password);
        const text = `Course user ${options.user} has another password; their sessions have ended`;
        return { json: { user_id: options.user }, text };
      });
    });

  command(user, 'rename', 'Give an admin user another name at one provider')
    .requiredOption('--provider <id>', 'whose admin user', id)
    .requiredOption('--admin-user <id>', 'the admin user', id)
    .requiredOption('--firstname <name>', 'the first name', title)
    .requiredOption('--lastname <name>', 'the last name', title)
    .action((options: RenameOptions) =>
      run(options, async ({ getCtx }) => {
        const { adminUser, firstname, lastname } = options;
        await renameAdminUser(await getCtx(options.provider), adminUser, { firstname, lastname });
        const text = `Admin user ${adminUser} is ${firstname} ${lastname} at provider ${options.provider}`;
        return { json: { admin_user_id: adminUser, firstname, lastname }, text };
      }),
    );

  const inviting: Command = command(
    user,
    'invite',
    'Mail somebody a new link to choose a password, in the place of one that ran out',
  )
    .requiredOption('--provider <id>', 'whose course user or admin user', id)
    .option('--user <id>', 'the course user', id)
    .option('--admin-user <id>', 'the admin user', id);
  inviting.action((options: InviteOptions) => {
    const { user: userId, adminUser: adminUserId } = options;
    const person = userId !== undefined ? { userId } : adminUserId !== undefined ? { adminUserId } : undefined;
    if (person === undefined || (userId !== undefined && adminUserId !== undefined)) {
      inviting.error('error: either --user or --admin-user', { code: 'commander.conflictingOption' });
    }
    return run(options, async ({ getCtx }) => {
      const { mailId, email } = await invite(await getCtx(options.provider), person);
      return { json: { mail_id: mailId, email }, text: `Mail ${mailId} will take a link to ${email}` };
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
