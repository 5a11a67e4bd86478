import type { Command } from 'commander';
import { describeError } from '../runtime/describe-error.ts';
import { mails, retry, retryFailed } from '../mail/service.ts';
import { command, count, id, run, table, type Options } from './connect.ts';

type ListOptions = Options & { provider?: number; failed?: boolean; limit: number };
type RetryOptions = Options & { allFailed?: boolean };

/** What operators do with mails. */
export function mailCommands(program: Command) {
  const mail = program.command('mail').description('Invitations and receipts on their way to people');

  command(mail, 'list', 'Mails, the newest first: who gets them, and how it goes')
    .option('--provider <id>', 'of this provider only', id)
    .option('--failed', 'only those that were given up')
    .option('--limit <count>', 'so many at most', count, 100)
    .action((options: ListOptions) =>
      run(options, async ({ database, getCtx }) => {
        const { provider = null, failed = false, limit } = options;
        if (provider !== null) await getCtx(provider);
        const rows = await mails(database, { providerId: provider, onlyFailed: failed, limit });
        const none = failed ? 'No mail was given up; `mail list` shows those that wait for another try' : 'No mails';
        return { json: rows, text: table(rows, none) };
      }),
    );

  const again = command(mail, 'retry', 'Send a mail anew that failed or waits for its next try')
    .argument('[id]', 'the id of the mail', id)
    .option('--all-failed', 'all that were given up');
  again.action((mailId: number | undefined, options: RetryOptions) => {
    if ((mailId === undefined) !== (options.allFailed ?? false)) {
      again.error('error: either the id of a mail or --all-failed', { code: 'commander.conflictingOption' });
    }
    return run(options, async ({ database }) => {
      if (mailId !== undefined) await retry(database, mailId);
      const { retried, failure } =
        mailId === undefined ? await retryFailed(database) : { retried: 1, failure: undefined };
      return {
        ...{ json: { retried }, text: `Mails to be sent anew: ${retried}` },
        ...(failure === undefined ? {} : { failure: `not all: ${describeError(failure)}` }),
      };
    });
  });
}
