import { eq, and, asc, isNull, sql } from 'drizzle-orm';
import { hashApiKey, newApiKey } from '../../../core/api-key.ts';
import { toSlug } from '../../../core/catalog-urls.ts';
import type { Config } from '../../../core/config.ts';
import { itemAt, Problem } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { Settings } from '../../../core/settings.ts';
import type { Database, Tx, WriteNewProvider } from '../../../database/client.ts';
import { getSchoolId, type Ctx } from '../../../database/context.ts';
import { transactionStart } from '../../../database/tables/columns.ts';
import { roles } from '../../../database/tables/people.ts';
import { providers, apiKeys, providerState, providerLimits } from '../../../database/tables/providers.ts';
import { webhooks } from '../../../database/tables/webhooks.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { bodyColumns } from '../../../lists/body-writer.ts';
import { SchoolBody, toSchool, type School } from './fields.ts';

export async function getSchool(ctx: Ctx): Promise<School> {
  const [row] = await ctx.db
    .select()
    .from(providers)
    .where(eq(providers.id, getSchoolId(ctx)));
  if (!row || ctx.publishableFor?.isActive === false) throw Problem.notFound('School');
  return toSchool(row, undefined, ctx);
}

/** A partial update, except that `active` not sent is true. */
export async function updateSchool(ctx: Ctx, body: SchoolBody): Promise<number> {
  await ctx.write(['school'], async ({ tx, now }) => {
    const changed = await tx.updateChanged(providers, eq(providers.id, ctx.providerId), toColumns(body), now);
    if (changed === 0) tx.rollBack();
  });
  return ctx.providerId;
}

/** Returns the new school's id and its API key, which is returned only here. */
export const createSubSchool = (ctx: Ctx, body: SchoolBody) => createSubProvider(ctx, toColumns(body));

const toBodyColumns = bodyColumns(providers, SchoolBody.properties);

export const toColumns = (body: SchoolBody): NewProvider => ({
  ...toBodyColumns(body),
  title: body.title,
  slug: toSlug(body.title),
  isActive: body.active ?? true,
});

type NewProvider = Omit<typeof providers.$inferInsert, 'id' | 'createdAt' | 'updatedAt'>;

/** Creates a provider with its first API key, random by default, which is returned only here. */
export async function createProvider(database: Database, values: NewProvider, chosenKey?: string) {
  const { parentId = null } = values;
  if (parentId !== null && (await database.db.$count(providers, eq(providers.id, parentId))) === 0) {
    throw Problem.notFound('Parent provider');
  }
  return insertProvider((work) => database.writeNewProvider(parentId, work), values, chosenKey);
}

/** Creates a provider below the caller, who gets no access to its data. */
const createSubProvider = (ctx: Ctx, values: NewProvider) =>
  insertProvider(ctx.writeNewProvider, { ...values, parentId: ctx.providerId });

async function insertProvider(write: WriteNewProvider, values: NewProvider, chosenKey?: string) {
  const apiKey = chosenKey ?? newApiKey();
  const providerId = await write(async ({ tx, now }) => {
    const timestamps = { createdAt: now, updatedAt: now };
    const rootId = values.parentId ? await findRoot(tx, values.parentId) : null;
    const created = await tx
      .insert(providers)
      .values({ ...values, ...timestamps, rootId })
      .returning({ id: providers.id });
    const providerId = itemAt(created).id;
    const clocks = { catalogChangedAt: now, datesChangedAt: now, peopleChangedAt: now, moneyChangedAt: now };
    await tx.insert(providerState).values({ providerId, changedAt: now, schoolChangedAt: now, ...clocks });
    await tx.insert(roles).values({ providerId, id: 1, title: 'Administrator', ...timestamps });
    await tx.insert(apiKeys).values({ providerId, hash: hashApiKey(apiKey), label: 'first key', createdAt: now });
    return tx.auditItem(providerId);
  });
  return { providerId, apiKey };
}

/** Open ones. */
const maxSubSchools = 50;

/** Returns the root of a new sub-school. Throws if the parent is a sub-school or has too many. */
async function findRoot(tx: Tx, parentId: number) {
  const [parent] = await tx.select({ parentId: providers.parentId }).from(providers).where(eq(providers.id, parentId));
  if (!parent) throw Problem.notFound('Parent provider');
  if (parent.parentId !== null) throw new Problem('invalid', 'A sub-school cannot have sub-schools');
  const open = await tx.$count(providers, and(eq(providers.parentId, parentId), isNull(providers.closedAt)));
  if (open >= maxSubSchools) throw new Problem('invalid', `A school has at most ${maxSubSchools} sub-schools`);
  return parentId;
}

/** Disables all keys, sessions and links of a provider; its data stays. Idempotent. */
export const closeProvider = (database: Database, providerId: number) => setClosed(database, providerId, true);

export const openProvider = (database: Database, providerId: number) => setClosed(database, providerId, false);

async function setClosed(database: Database, providerId: number, isClosed: boolean) {
  if ((await database.db.$count(providerState, eq(providerState.providerId, providerId))) === 0)
    throw Problem.notFound(`Provider ${providerId}`);
  await database.write([providerId], ['school'], async ({ tx, now }) => {
    const provider = eq(providers.id, providerId);
    const before = await tx.select({ closedAt: providers.closedAt }).from(providers).where(provider);
    if ((itemAt(before).closedAt !== null) === isClosed) {
      tx.rollBack();
      return;
    }
    const closedAt = isClosed ? now : null;
    await tx.update(providers).set({ closedAt, updatedAt: now }).where(provider);
    // The time while it was closed is no failure.
    if (!isClosed)
      await tx
        .update(webhooks)
        .set({ attempts: 0, failingSince: null, dueAt: transactionStart })
        .where(eq(webhooks.providerId, providerId));
    tx.auditItem(providerId);
  });
}

/** The root of a provider's parent chain, which may be the provider itself. */
export async function getRootId(database: Database, providerId: number) {
  const [provider] = await database.db
    .select({ rootId: providers.rootId })
    .from(providers)
    .where(eq(providers.id, providerId));
  if (!provider) throw Problem.notFound(`Provider ${providerId}`);
  return provider.rootId ?? providerId;
}

/** Replaces the server's rate limit for a root provider and its sub-schools; null removes the limit of its own. */
export async function setProviderLimit(
  database: Database,
  providerId: number,
  limit: { perSecond: number; burst: number } | null,
) {
  await database.write([providerId], ['school'], async ({ tx }) => {
    const own = eq(providerLimits.providerId, providerId);
    if (limit === null) await tx.delete(providerLimits).where(own);
    else {
      const target = providerLimits.providerId;
      await tx
        .insert(providerLimits)
        .values({ providerId, ...limit })
        .onConflictDoUpdate({ target, set: limit });
    }
    tx.auditItem(providerId);
  });
}

export const createTitledProvider = (database: Database, title: string, parentId: number | null, chosenKey?: string) =>
  createProvider(database, { title, slug: toSlug(title), parentId }, chosenKey);

export const listProviders = (database: Database) =>
  database.db
    .select({
      provider_id: providers.id,
      title: providers.title,
      parent_id: providers.parentId,
      created_at: providers.createdAt,
      closed_at: providers.closedAt,
      is_deleted: sql<boolean>`${providerState.providerId} is null`,
    })
    .from(providers)
    .leftJoin(providerState, eq(providerState.providerId, providers.id))
    .orderBy(asc(providers.id));

export const hasNoProviders = async (database: Database) => (await database.db.$count(providers)) === 0;

/** Creates the configured first provider in a database without providers. */
export async function createFirstProvider(config: Config, database: Database, log: Pick<Log, 'info'>) {
  const { BOOTSTRAP_PROVIDER: title, BOOTSTRAP_API_KEY: key } = config;
  if (title === undefined || key === undefined) return;
  const audited = database.withAudit({ actor: 'server', actorId: null, action: 'first provider' });
  await audited.atomically(async (within) => {
    if (!(await hasNoProviders(within))) return;
    const { providerId } = await createTitledProvider(within, title, null, key);
    log.info(`Created the first provider, ${providerId}, with the key from BOOTSTRAP_API_KEY`);
  });
}

/** Creates a context without a request, for the command line and the demo data. */
export async function createContext(database: Database, settings: Settings, providerId: number): Promise<Ctx> {
  const [found] = await database.db
    .select({
      version: providerState.changedAt,
      tenantQueueKey: sql<number>`coalesce(${providers.rootId}, ${providers.id})`,
    })
    .from(providerState)
    .innerJoin(providers, eq(providers.id, providerState.providerId))
    .where(tenantWhere({ providerId }, providerState));
  const { version, tenantQueueKey } = Problem.assertFound(found, `Provider ${providerId}`);
  const queued = database.queuedAs(tenantQueueKey);
  return {
    providerId,
    tenantQueueKey,
    version,
    language: settings.defaultLanguage,
    settings,
    db: database.db,
    unlockedStore: database.unlocked,
    write(areas, work) {
      return queued.write([providerId], areas, (w) => work({ ...this, ...w }));
    },
    writeNewProvider: (work) => queued.writeNewProvider(providerId, work),
  };
}
