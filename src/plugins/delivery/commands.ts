import type { Command } from 'commander';
import { describeError } from '../../database/describe-error.ts';
import { command, count, id, run, table, timestamp, type Options } from '../../interfaces/cli/run.ts';
import { listMails, retryMail, retryMails } from './mail/service.ts';
import { deliverySettings, noMailServer } from './settings.ts';
import type { Webhook } from './webhooks/schema.ts';
import { listWebhooks, resyncWebhook } from './webhooks/service.ts';

export function deliveryCommands(program: Command) {
  webhookCommands(program);
  mailCommands(program);
}

function webhookCommands(program: Command) {
  const webhook = program.command('webhook').description("Webhooks of a provider, which get its data's changes");
  command(webhook, 'resync', 'Tell receivers to read all items again, after a restore of the database')
    .argument('[id]', 'id of the webhook; all of the provider without it', id)
    .requiredOption('--provider <id>', 'provider of the webhook', id)
    .action((webhookId: number | undefined, options: Options & { provider: number }) =>
      run(options, async ({ getCtx }) => {
        const ctx = await getCtx(options.provider);
        const ids = webhookId === undefined ? (await listWebhooks(ctx)).map((one) => one.id) : [webhookId];
        const changed: Webhook[] = [];
        for (const one of ids) changed.push(await resyncWebhook(ctx, one));
        return { json: changed, text: `${changed.length} webhook(s) get a resync of each resource` };
      }),
    );
}

type ListOptions = Options & { provider?: number; failed?: boolean; limit: number };
type RetryOptions = Options & { allFailed?: boolean; allWaiting?: boolean; since?: string };

function mailCommands(program: Command) {
  const mail = program.command('mail').description('Outgoing mails');

  command(mail, 'list', 'List mails with recipient and delivery status, newest first')
    .option('--provider <id>', 'only mails of this provider', id)
    .option('--failed', 'only mails that failed permanently')
    .option('--limit <count>', 'maximum number of entries', count, 100)
    .action((options: ListOptions) =>
      run(options, async ({ database, getCtx, config }) => {
        const { provider = null, failed = false, limit } = options;
        if (provider !== null) await getCtx(provider);
        const waitingFor = config.of(deliverySettings).mailsGoTo === 'nowhere' ? noMailServer : undefined;
        const rows = await listMails(database, { providerId: provider, onlyFailed: failed, limit, waitingFor });
        const emptyText = failed
          ? 'No mail failed permanently; `mail list` also shows mails waiting for a retry'
          : 'No mails';
        return { json: rows, text: table(rows, emptyText) };
      }),
    );

  const retryCommand = command(mail, 'retry', 'Retry a mail that failed or waits for its next attempt')
    .argument('[id]', 'id of the mail', id)
    .option('--all-failed', 'all mails that failed permanently, except to refused addresses')
    .option('--since <date>', 'of these only those that failed from this time on, in the service time zone', timestamp)
    .option('--all-waiting', 'all mails that wait for their next attempt');
  const refuse = (reason: string) => retryCommand.error(`error: ${reason}`, { code: 'commander.conflictingOption' });
  retryCommand.action((mailId: number | undefined, { allFailed, allWaiting, since, ...options }: RetryOptions) => {
    if ([mailId, allFailed, allWaiting].filter((one) => one !== undefined).length !== 1)
      refuse('specify either a mail id, --all-failed or --all-waiting');
    if (since !== undefined && !allFailed) refuse('--since is for --all-failed');
    return run(options, async ({ database }) => {
      if (mailId !== undefined) await retryMail(database, mailId);
      const { retried, failure } =
        mailId === undefined
          ? await retryMails(database, allFailed ? 'failed' : 'waiting', since)
          : { retried: 1, failure: undefined };
      return {
        ...{ json: { retried }, text: `Mails queued for retry: ${retried}` },
        ...(failure === undefined ? {} : { failure: `some mails could not be queued: ${describeError(failure)}` }),
      };
    });
  });
}
