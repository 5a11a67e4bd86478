import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { payloads } from '../../database/tables/webhooks.ts';
import { eventTypes } from '../../database/event-types.ts';
import { WebhookBody } from '../../resources/webhooks/body-schema.ts';
import { findWarning, type Webhook } from '../../resources/webhooks/schema.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listDeliveries,
  listWebhooks,
  resyncWebhook,
  rotateSecret,
  testWebhook,
  updateWebhook,
} from '../../resources/webhooks/service.ts';
import { command, id, run, table, type Options } from './run.ts';

type Owned = Options & { provider: number };
type Fields = {
  url?: string;
  /** None for all. */
  types?: string[];
  description?: string;
  payload?: (typeof payloads)[number];
  activate?: boolean;
  deactivate?: boolean;
};

const types = (text: string) => {
  if (text === 'all') return [];
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !eventTypes.includes(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`There is no type '${unknown}'; the types are ${eventTypes.join(', ')}.`);
  return names;
};
/** Checks a value as the interface does. */
const checked = (schema: TSchema, message: string) => (text: string) => {
  if (!Value.Check(schema, text)) throw new InvalidArgumentError(message);
  return text;
};
const { url: Url, description: Description } = WebhookBody.properties;
const url = checked(Url, 'It must be an http or https address.');
const description = checked(Description, 'It must have at most 255 characters.');
const payload = (text: string) => {
  const found = payloads.find((name) => name === text);
  if (found === undefined) throw new InvalidArgumentError(`It must be ${payloads.join(' or ')}.`);
  return found;
};

export function webhookCommands(program: Command) {
  const webhook = program.command('webhook').description("Webhooks of a provider, which get its data's changes");
  const owned = (name: string, text: string) =>
    command(webhook, name, text).requiredOption('--provider <id>', 'provider of the webhook', id);
  const ofOne = (name: string, text: string) => owned(name, text).argument('<id>', 'id of the webhook', id);
  settingsCommands(owned, ofOne);
  operationCommands(ofOne);
  resyncCommand(owned);
}

type Add = (name: string, text: string) => Command;

const withFields = (one: Command) =>
  one
    .option('--types <types>', 'types of changes, such as course.updated,tag.created, or all', types)
    .option('--description <text>', 'purpose of the webhook', description)
    .option('--payload <payload>', 'full: with the item; thin: ids alone', payload);

const toRow = ({ id, url, types, is_active, disabled_reason, failing_since }: Webhook) => ({
  ...{ id, url, types: types?.join(',') ?? 'all', state: is_active ? 'active' : (disabled_reason ?? 'inactive') },
  failing_since,
});

function warningLine(webhook: Webhook) {
  const warning = findWarning(webhook);
  return warning === undefined ? '' : `\nWarning: ${warning}`;
}

/** All fields, one a line. */
const toText = (webhook: Webhook) =>
  table(
    Object.entries({ ...webhook, types: webhook.types?.join(',') ?? 'all' }).map(([field, value]) => ({
      field,
      value: String(value ?? '-'),
    })),
    '',
  );

function settingsCommands(owned: Add, ofOne: Add) {
  owned('list', "List a provider's webhooks without their secrets").action((options: Owned) =>
    run(options, async ({ getCtx }) => {
      const webhooks = await listWebhooks(await getCtx(options.provider));
      return { json: webhooks, text: table(webhooks.map(toRow), 'No webhooks') };
    }),
  );

  ofOne('get', 'Show a webhook without its secret').action((webhookId: number, options: Owned) =>
    run(options, async ({ getCtx }) => {
      const shown = await getWebhook(await getCtx(options.provider), webhookId);
      return { json: shown, text: toText(shown) };
    }),
  );

  withFields(owned('create', 'Create a webhook; its secret is printed only once'))
    .requiredOption('--url <url>', 'address that gets the messages', url)
    .option('--deactivate', 'send no messages yet')
    .action((options: Owned & Fields & { url: string }) =>
      run(options, async ({ getCtx }) => {
        const created = await createWebhook(await getCtx(options.provider), { ...toBody(options), url: options.url });
        const text = `Webhook ${created.id}: ${created.secret}\nThe secret is printed only once.${warningLine(created)}`;
        return { json: created, text };
      }),
    );

  withFields(ofOne('update', 'Change a webhook, or switch it on or off'))
    .option('--url <url>', 'address that gets the messages', url)
    .addOption(new Option('--activate', 'send messages, from where they stopped').conflicts('deactivate'))
    .option('--deactivate', 'send no messages')
    .action((webhookId: number, options: Owned & Fields) =>
      run(options, async ({ getCtx }) => {
        const changed = await updateWebhook(await getCtx(options.provider), webhookId, toBody(options));
        return { json: changed, text: toText(changed) + warningLine(changed) };
      }),
    );

  ofOne('delete', 'Delete a webhook with its log').action((webhookId: number, options: Owned) =>
    run(options, async ({ getCtx }) => {
      const deleted = await deleteWebhook(await getCtx(options.provider), webhookId);
      return { json: deleted, text: `Deleted webhook ${webhookId}` };
    }),
  );
}

function operationCommands(ofOne: Add) {
  ofOne('rotate', 'Replace the secret, which is printed only once; the former one signs for 24 hours too').action(
    (webhookId: number, options: Owned) =>
      run(options, async ({ getCtx }) => {
        const rotated = await rotateSecret(await getCtx(options.provider), webhookId);
        const text = `Webhook ${webhookId}: ${rotated.secret}\nThe secret is printed only once. The former one signs too until ${rotated.previous_secret_expires_at}.`;
        return { json: rotated, text };
      }),
  );

  ofOne('test', 'Send a test message at once').action((webhookId: number, options: Owned) =>
    run(options, async ({ getCtx }) => {
      const attempt = await testWebhook(await getCtx(options.provider), webhookId);
      const failed = attempt.error === null ? {} : { failure: `the message did not arrive: ${attempt.error}` };
      const text =
        attempt.status_code === null
          ? 'The endpoint did not answer'
          : `The endpoint answered ${attempt.status_code} in ${attempt.duration_ms} ms`;
      return { json: attempt, text, ...failed };
    }),
  );

  ofOne('deliveries', 'List the last 100 attempts, newest first').action((webhookId: number, options: Owned) =>
    run(options, async ({ getCtx }) => {
      const attempts = await listDeliveries(await getCtx(options.provider), webhookId);
      return { json: attempts, text: table(attempts, 'No attempts yet') };
    }),
  );
}

function resyncCommand(owned: Add) {
  owned('resync', 'Tell receivers to read all items again, after a restore of the database')
    .argument('[id]', 'id of the webhook; all of the provider without it', id)
    .action((webhookId: number | undefined, options: Owned) =>
      run(options, async ({ getCtx }) => {
        const ctx = await getCtx(options.provider);
        const ids = webhookId === undefined ? (await listWebhooks(ctx)).map((one) => one.id) : [webhookId];
        const changed: Webhook[] = [];
        for (const one of ids) changed.push(await resyncWebhook(ctx, one));
        return { json: changed, text: `${changed.length} webhook(s) get a resync of each resource` };
      }),
    );
}

const toBody = ({ url, types, description, payload, activate, deactivate }: Fields) => ({
  ...{ url, types, description, payload },
  is_active: activate ?? (deactivate ? false : undefined),
});
