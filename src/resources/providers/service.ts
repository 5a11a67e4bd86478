import { asc, eq } from 'drizzle-orm';
import { hashApiKey, newApiKey } from '../../core/api-key.ts';
import { slugOf } from '../../core/catalog.ts';
import { allGuards, type Ctx, type Settings } from '../../core/context.ts';
import { notFound } from '../../core/problem.ts';
import { concerns } from '../../database/audit.ts';
import type { Database, WriteNewProvider } from '../../database/client.ts';
import { roles } from '../../database/tables/people.ts';
import { apiKeys, providers, providerState } from '../../database/tables/providers.ts';

export type NewProvider = Omit<typeof providers.$inferInsert, 'id' | 'createdAt' | 'updatedAt'>;

/** Makes a provider with its first key, which is random unless an operator chose one. The key is shown once. */
export async function createProvider(database: Database, values: NewProvider, chosenKey?: string) {
  const { parentId = null } = values;
  if (parentId !== null && (await database.db.$count(providers, eq(providers.id, parentId))) === 0) {
    throw notFound('Parent provider');
  }
  return insertProvider((work) => database.writeNewProvider(parentId, work), values, chosenKey);
}

/** A new provider with the caller as its parent, which gains no right to its data by that. */
export const createSubProvider = (ctx: Ctx, values: NewProvider) =>
  insertProvider(ctx.writeNewProvider, { ...values, parentId: ctx.providerId });

async function insertProvider(write: WriteNewProvider, values: NewProvider, chosenKey?: string) {
  const apiKey = chosenKey ?? newApiKey();
  const providerId = await write(async (tx, at) => {
    const stamps = { createdAt: at, updatedAt: at };
    const [made] = await tx
      .insert(providers)
      .values({ ...values, ...stamps })
      .returning({ id: providers.id });
    const providerId = made!.id;
    await tx.insert(providerState).values({ providerId, changedAt: at });
    await tx.insert(roles).values({ providerId, id: 1, title: 'Administrator', ...stamps });
    await tx.insert(apiKeys).values({ providerId, hash: hashApiKey(apiKey), label: 'first key', createdAt: at });
    return concerns(tx, providerId);
  });
  return { providerId, apiKey };
}

/** By title alone, as an operator types it. */
export const createTitledProvider = (database: Database, title: string, parentId: number | null, chosenKey?: string) =>
  createProvider(database, { title, slug: slugOf(title), parentId }, chosenKey);

export const listProviders = (database: Database) =>
  database.db
    .select({
      provider_id: providers.id,
      title: providers.title,
      parent_id: providers.parentId,
      created_at: providers.createdAt,
    })
    .from(providers)
    .orderBy(asc(providers.id));

/** Whether the database has no provider yet, so that demo data or a first provider may go in. */
export const hasNoProviders = async (database: Database) => (await database.db.$count(providers)) === 0;

/** A provider's context without a request: for the command line and the demo data. */
export async function contextOf(database: Database, settings: Settings, providerId: number): Promise<Ctx> {
  const { rows } = await database.pool.query<{ version: string }>(
    'select changed_at::text as version from provider_state where provider_id = $1',
    [providerId],
  );
  if (!rows[0]) throw notFound(`Provider ${providerId}`);
  return {
    providerId,
    version: rows[0].version,
    language: settings.defaultLanguage,
    settings,
    guards: allGuards,
    db: database.db,
    doors: { $client: database.pool },
    write: (work) => database.write([providerId], work),
    writeNewProvider: (work) => database.writeNewProvider(providerId, work),
  };
}
