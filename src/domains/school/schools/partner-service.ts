import { asc, eq } from 'drizzle-orm';
import { itemAt, Problem } from '../../../core/errors.ts';
import type { Database } from '../../../database/client.ts';
import { partnerConnections, providers } from '../../../database/tables/providers.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';

type Connection = { provider_id: number; partner_id: number; status: 'requested' | 'approved' | 'revoked' };

export const requestPartner = (database: Database, providerId: number, partnerId: number) =>
  setStatus(database, providerId, partnerId, 'requested');

/** Lets `providerId` list the public items of `partnerId`, not the other way round. */
export const approvePartner = (database: Database, providerId: number, partnerId: number) =>
  setStatus(database, providerId, partnerId, 'approved');

export async function revokePartner(database: Database, providerId: number, partnerId: number) {
  if ((await database.db.$count(partnerConnections, pair(providerId, partnerId))) === 0)
    throw Problem.notFound('Partner connection');
  return setStatus(database, providerId, partnerId, 'revoked');
}

export const listPartners = (database: Database): Promise<Connection[]> =>
  database.db
    .select({
      provider_id: partnerConnections.providerId,
      partner_id: partnerConnections.partnerId,
      status: partnerConnections.status,
    })
    .from(partnerConnections)
    .orderBy(asc(partnerConnections.providerId), asc(partnerConnections.partnerId));

/** Returns the resulting status; a request never undoes an approval. */
async function setStatus(database: Database, providerId: number, partnerId: number, status: Connection['status']) {
  if (providerId === partnerId) throw new Problem('invalid', 'A provider cannot be its own partner');
  for (const id of [providerId, partnerId]) {
    if ((await database.db.$count(providers, eq(providers.id, id))) === 0) throw Problem.notFound(`Provider ${id}`);
  }
  return database.write([providerId, partnerId], ['school'], async ({ tx, now }) => {
    tx.auditItem(providerId);
    tx.auditItem(partnerId);
    const set = await tx
      .insert(partnerConnections)
      .values({ providerId, partnerId, status, createdAt: now, updatedAt: now })
      .onConflictDoUpdate({
        target: [partnerConnections.providerId, partnerConnections.partnerId],
        set: { status, updatedAt: now },
        ...(status === 'requested' ? { setWhere: eq(partnerConnections.status, 'revoked') } : {}),
      })
      .returning({ status: partnerConnections.status });
    if (set[0]) return set[0].status;
    const current = await tx
      .select({ status: partnerConnections.status })
      .from(partnerConnections)
      .where(pair(providerId, partnerId));
    return tx.rollBack(itemAt(current).status);
  });
}

const pair = (providerId: number, partnerId: number) =>
  tenantWhere({ providerId }, partnerConnections, eq(partnerConnections.partnerId, partnerId));
