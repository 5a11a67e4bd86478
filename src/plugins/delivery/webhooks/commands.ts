import type { Command } from 'commander';
import type { Webhook } from './schema.ts';
import { listWebhooks, resyncWebhook } from './service.ts';
import { command, id, run, type Options } from '../../../interfaces/cli/run.ts';

export function webhookCommands(program: Command) {
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
