import type { Command } from 'commander';
import { Registry } from 'prom-client';
import { builtCommit, describeVersion, packageVersion } from '../../core/project.ts';
import { command, run, type CommandContext, type CommandResult, type Options } from '../../interfaces/cli/run.ts';
import { formatAge, queryOne } from '../../interfaces/plugin/checks.ts';
import { loadWatched } from '../../interfaces/plugin/define-plugin.ts';
import { createMeters } from '../../interfaces/plugin/metrics.ts';
import { listProviders } from '../../domains/school/schools/service.ts';
import { examineSystem } from './doctor/commands.ts';
import { formatBytes } from './doctor/disks.ts';
import { databaseStateMetrics } from './metrics/database.ts';
import { diskMetrics } from './metrics/disks.ts';

export function statusCommand(program: Command) {
  command(program, 'status', 'Show the version, schools, queues, last backup, disks and warnings').action(
    (options: Options) => run(options, (context) => readStatus(context, options), { allowUnmigrated: true }),
  );
}

type Status = Awaited<ReturnType<typeof collect>>;

async function readStatus(context: CommandContext, options: Options): Promise<CommandResult> {
  const status = await collect(context, options);
  return { json: status, text: toText(status) };
}

async function collect(context: CommandContext, options: Options) {
  const { pool } = context.database;
  const size = await queryOne<{ bytes: number }>(pool, 'select pg_database_size(current_database())::float8 as bytes');
  const findings = await examineSystem(context, options);
  const messageOf = (name: string) => findings.find(({ check }) => check === name)?.message ?? null;
  const read = await readMetrics(context, options);
  const { '': waiting = null } = await read('booking_outbox_unsent');
  const { '': oldest = null } = await read('booking_outbox_oldest_seconds');
  const backup = messageOf('backup');
  const { '': age = null } = await read('booking_backup_age_seconds');
  const webhooks = await read('booking_webhooks');
  const ages = Object.values(await read('booking_webhook_oldest_seconds'));
  return {
    ...{ version: packageVersion(), commit: builtCommit(), migrations: messageOf('migrations') },
    schools: await countSchools(context),
    mails: { waiting, oldest_seconds: oldest },
    // Absent without the plugin that sends them.
    webhooks: ages.length === 0 ? null : { by_state: webhooks, oldest_seconds: Math.max(...ages) },
    backup: backup === null ? null : { age_seconds: age, message: backup },
    ...{ disks_free_bytes: await read('booking_disk_free_bytes'), database_bytes: size.bytes },
    findings: findings.filter(({ level }) => level === 'warning' || level === 'error'),
  };
}

/** Reads the metrics that need no running server, those of plugins among them, by name: values by label. */
async function readMetrics({ config, database }: CommandContext, { plugins }: Options) {
  const register = new Registry();
  const { metrics, folders } = await loadWatched(plugins, config);
  const sources = { config, database, version: packageVersion(), folders: { data: config.DATA_DIR, ...folders } };
  const areas = [databaseStateMetrics, diskMetrics, ...metrics];
  const created = areas.map((createArea) => createArea(createMeters(register), sources));
  for (const { refresh } of created) await refresh?.();
  return async (name: string): Promise<Record<string, number>> => {
    const { values = [] } = (await register.getSingleMetric(name)?.get()) ?? {};
    return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(), value]));
  };
}

/** Null where the tables are missing or those of another version. */
async function countSchools({ database }: CommandContext) {
  const schools = await listProviders(database).catch(() => null);
  if (schools === null) return null;
  const present = schools.filter(({ is_deleted: isDeleted }) => !isDeleted);
  const open = present.filter(({ closed_at: closedAt }) => closedAt === null).length;
  return { open, closed: present.length - open };
}

function toText({ schools, mails, webhooks, backup, findings, ...status }: Status) {
  const lines: [string, string | null][] = [
    ['version', describeVersion()],
    ['migrations', status.migrations],
    ['schools', schools && `${schools.open} open, ${schools.closed} closed`],
    ['mails', mails.waiting === null ? 'unknown' : describeQueue(`${mails.waiting} waiting`, mails.oldest_seconds)],
    ['webhooks', webhooks && describeWebhooks(webhooks)],
    ['backup', backup && backup.message],
    ['free', describeDisks(status.disks_free_bytes)],
    ['database', formatBytes(status.database_bytes)],
  ];
  return [
    ...lines.flatMap(([name, text]) => (text === null ? [] : [`${name.padEnd(12)}${wrap(text)}`])),
    '',
    ...findings.map(({ level, check, message }) => `${level}: ${check}: ${message}`),
    ...(findings.length === 0 ? ['doctor finds nothing'] : []),
  ].join('\n');
}

/** Wraps text for a terminal of 80 columns. */
const wrap = (text: string) => (text.match(/\S.{0,66}\S(?= |$)|\S+/g) ?? []).join(`\n${' '.repeat(12)}`);

const describeQueue = (text: string, oldest: number | null) =>
  oldest ? `${text}, the oldest ${formatAge(oldest)} old` : text;

const describeWebhooks = ({ by_state: counts, oldest_seconds: oldest }: NonNullable<Status['webhooks']>) => {
  const states = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return describeQueue(states.join(', '), oldest);
};

/** Places on one disk have the same free space. */
function describeDisks(free: Record<string, number>) {
  const places = new Map<string, string[]>();
  for (const [place, bytes] of Object.entries(free)) {
    const space = formatBytes(bytes);
    places.set(space, [...(places.get(space) ?? []), place]);
  }
  return [...places].map(([space, names]) => `${space} (${names.join(', ')})`).join(', ');
}
