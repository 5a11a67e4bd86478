import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { keyProfiles, type KeyProfile } from '../../core/api-key.ts';
import { formatTimestamp } from '../../core/timestamps.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../domains/school/auth/key-service.ts';
import { command, id, run, table, timestamp, title, type Options } from './run.ts';

type CreateOptions = Options & {
  provider: number;
  label?: string;
  expires?: string;
  profile: KeyProfile;
  origins?: string[];
};

export function keyCommands(program: Command) {
  const key = program.command('key').description('API keys of a provider');

  const create: Command = command(key, 'create', 'Create another API key, which is printed only once')
    .requiredOption('--provider <id>', 'provider of the key', id)
    .option('--label <label>', 'purpose of the key', title)
    .option('--expires <date>', 'expiry date, in the service time zone', timestamp)
    .addOption(new Option('--profile <profile>', 'what the key may do').choices(keyProfiles).default('full'))
    .option('--origins <origins>', 'origins of the pages that may use a publishable key, separated by commas', origins);
  create.action((options: CreateOptions) => {
    if (options.origins && options.profile !== 'publishable')
      create.error('error: --origins is for --profile publishable', { code: 'commander.conflictingOption' });
    return run(options, async ({ getCtx }) => {
      const created = await createKey(await getCtx(options.provider), options);
      const warning = created.isExpired ? ' It has already expired and is not accepted.' : '';
      const text = `Key ${created.keyId}: ${created.apiKey}\nIt is printed only once.${warning}`;
      return { json: { key_id: created.keyId, api_key: created.apiKey }, text };
    });
  });

  command(key, 'list', "List a provider's API keys without their secrets")
    .requiredOption('--provider <id>', 'provider of the keys', id)
    .action((options: Options & { provider: number }) =>
      run(options, async ({ getCtx }) => {
        const rows = (await listKeys(await getCtx(options.provider))).map((row) => ({
          ...row,
          created_at: formatTimestamp(row.created_at),
          expires_at: formatTimestamp(row.expires_at),
          revoked_at: formatTimestamp(row.revoked_at),
          last_used_at: formatTimestamp(row.last_used_at),
        }));
        const cells = rows.map((row) => ({ ...row, origins: row.origins?.join(',') ?? null }));
        return { json: rows, text: table(cells, 'No keys') };
      }),
    );

  replaceCommands(key);
}

function replaceCommands(key: Command) {
  command(key, 'rotate', 'Replace an API key: prints a new one; the old one expires by itself')
    .argument('<id>', 'id of the key', id)
    .addOption(
      new Option(
        '--overlap <duration>',
        `how long the old key is still accepted: 0m, 30m, 24h or 7d, at most ${maxDays}d`,
      )
        .argParser(duration)
        .default(24 * 3_600, '24h'),
    )
    .action((keyId: number, options: Options & { overlap: number }) =>
      run(options, async ({ database }) => {
        const created = await rotateKey(database, keyId, options.overlap);
        const oldExpiresAt = formatTimestamp(created.oldExpiresAt);
        const text = `Key ${created.keyId} of provider ${created.providerId}: ${created.apiKey}\nIt is printed only once. Key ${keyId} expires at ${oldExpiresAt}.`;
        const json = {
          provider_id: created.providerId,
          key_id: created.keyId,
          api_key: created.apiKey,
          old_key_id: keyId,
          old_expires_at: oldExpiresAt,
        };
        return { json, text };
      }),
    );

  command(key, 'revoke', 'Revoke an API key (effective immediately)')
    .argument('<id>', 'id of the key', id)
    .action((keyId: number, options: Options) =>
      run(options, async ({ database }) => {
        const { providerId } = await revokeKey(database, keyId);
        return {
          json: { provider_id: providerId, key_id: keyId },
          text: `Revoked key ${keyId} of provider ${providerId}`,
        };
      }),
    );
}

const maxOrigins = 50;

function origins(text: string) {
  const list = [...new Set(text.split(',').map((one) => one.trim()))];
  if (list.length > maxOrigins) throw new InvalidArgumentError(`There may be at most ${maxOrigins} origins.`);
  for (const one of list) {
    if (!isOrigin(one))
      throw new InvalidArgumentError(`It must be like https://a.example,https://b.example:8443 and not ${one}.`);
  }
  return list;
}

/** True for the scheme, host and port as a browser sends them. */
const isOrigin = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;

const seconds: Record<string, number> = { m: 60, h: 3_600, d: 86_400 };
const maxDays = 90;

function duration(text: string) {
  const [, count, unit = ''] = /^(0|[1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  const value = Number(count) * (seconds[unit] ?? NaN);
  if (!(value <= maxDays * 86_400))
    throw new InvalidArgumentError(`It must be like 30m, 24h or 7d, at most ${maxDays}d.`);
  return value;
}
