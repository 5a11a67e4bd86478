import type { Command } from 'commander';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Problem } from '../../core/errors.ts';
import { findPasswordFault, type PasswordFault } from '../../domains/school/auth/schema.ts';
import { loadPasswordNames, setPassword } from '../../domains/school/auth/password-service.ts';
import { renameAdminUser } from '../../domains/school/admin-users/service.ts';
import { invite } from '../../domains/people/users/invitation-service.ts';
import { command, id, run, title, type Options } from './run.ts';

type RenameOptions = Options & { provider: number; adminUser: number; firstname: string; lastname: string };
type InviteOptions = Options & { provider: number; user?: number; adminUser?: number };

export function userCommands(program: Command) {
  const user = program.command('user').description('Users who sign in with a username and a password');
  command(
    user,
    'set-password',
    'Change the password of a course user; it is read from the first line of standard input',
  )
    .requiredOption('--provider <id>', 'provider of the course user', id)
    .requiredOption('--user <id>', 'id of the course user', id)
    .action(async (options: Options & { provider: number; user: number }) => {
      const password = await readPassword();
      assertPassword(findPasswordFault(password, []));
      await run(options, async ({ getCtx }) => {
        const ctx = await getCtx(options.provider);
        const names = await loadPasswordNames(ctx, { userId: options.user, adminUserId: null });
        assertPassword(findPasswordFault(password, names));
        await setPassword(ctx, options.user, password);
        const text = `Changed the password of course user ${options.user} and ended their sessions`;
        return { json: { user_id: options.user }, text };
      });
    });

  command(user, 'rename', 'Rename an admin user at one provider')
    .requiredOption('--provider <id>', 'provider of the admin user', id)
    .requiredOption('--admin-user <id>', 'id of the admin user', id)
    .requiredOption('--firstname <name>', 'first name', title)
    .requiredOption('--lastname <name>', 'last name', title)
    .action((options: RenameOptions) =>
      run(options, async ({ getCtx }) => {
        const { adminUser, firstname, lastname } = options;
        await renameAdminUser(await getCtx(options.provider), adminUser, { firstname, lastname });
        const text = `Renamed admin user ${adminUser} to ${firstname} ${lastname} at provider ${options.provider}`;
        return { json: { admin_user_id: adminUser, firstname, lastname }, text };
      }),
    );

  const inviteCommand: Command = command(
    user,
    'invite',
    'Mail a new link to choose a password, replacing an expired one',
  )
    .requiredOption('--provider <id>', 'provider of the user', id)
    .option('--user <id>', 'id of the course user', id)
    .option('--admin-user <id>', 'id of the admin user', id);
  inviteCommand.action((options: InviteOptions) => {
    const { user: userId, adminUser: adminUserId } = options;
    const person = userId !== undefined ? { userId } : adminUserId !== undefined ? { adminUserId } : undefined;
    if (person === undefined || (userId !== undefined && adminUserId !== undefined)) {
      inviteCommand.error('error: specify either --user or --admin-user', { code: 'commander.conflictingOption' });
    }
    return run(options, async ({ getCtx }) => {
      const { mailId, email } = await invite(await getCtx(options.provider), person);
      return { json: { mail_id: mailId, email }, text: `Queued mail ${mailId} with a link to ${email}` };
    });
  });
}

const faults: Record<PasswordFault, string> = {
  length: 'A password must have 8 to 200 characters',
  common: 'This is one of the 10,000 most common passwords',
  names: "A password must not consist of the person's names, username or e-mail address, or the school's name",
};

function assertPassword(fault: PasswordFault | undefined) {
  if (fault !== undefined) throw new Problem('invalid', faults[fault]);
}

const readPassword = () => (process.stdin.isTTY ? promptHidden('Password: ') : readFirstLine());

/** Strips a byte order mark. Throws on invalid UTF-8, which nobody could type at a sign-in. */
async function readFirstLine() {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (chunk.includes('\n')) break;
  }
  const input = Buffer.concat(chunks);
  const end = input.indexOf('\n');
  try {
    const line = new TextDecoder('utf-8', { fatal: true }).decode(end < 0 ? input : input.subarray(0, end));
    return line.replace(/\r$/, '');
  } catch {
    throw new Problem('invalid', 'The password must be written in UTF-8');
  }
}

/** Reads a line from the terminal without echoing it. */
async function promptHidden(prompt: string) {
  const { stdin, stderr } = process;
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: discard, terminal: true });
  stderr.write(prompt);
  try {
    const [line] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string | undefined];
    return line ?? '';
  } finally {
    lines.close();
    stdin.destroy();
    stderr.write('\n');
  }
}
