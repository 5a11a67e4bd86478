import { eq } from 'drizzle-orm';
import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { findInvalidTimezone } from '../../../database/time-zones.ts';
import { locations } from '../../../database/tables/places.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { tenantWhere } from '../../../lists/tenant-scope.ts';
import { LocationBody, type LocationChange } from './body-schema.ts';
import { locationList } from './list.ts';
import type { ListedLocation } from './schema.ts';

const { toColumns, insert, references } = bodyWriter(locations, LocationBody);
export const locationReferences = references;

/** Archived ones too. */
export const getLocation = async (ctx: Ctx, id: number): Promise<ListedLocation> =>
  Problem.assertFound(await locationList.byId(ctx, id), 'Location');

export async function createLocation(ctx: Ctx, body: LocationBody): Promise<ListedLocation> {
  const { providerId } = ctx;
  return ctx.write(['catalog'], async (tx, now) => {
    const inWrite = { ...ctx, db: tx };
    await assertValidReferences(inWrite, body);
    const timestamps = { createdAt: now, updatedAt: now };
    const id = await insert(tx, { ...toColumns(body), title: body.title, ...timestamps, providerId });
    return reload(inWrite, tx.recordAffected(id));
  });
}

/** A partial update; existing course dates keep their capacities. */
export async function updateLocation(ctx: Ctx, id: number, body: LocationChange): Promise<ListedLocation> {
  const location = tenantWhere(ctx, locations, eq(locations.id, id));
  await assertValidReferences(ctx, body);
  await ctx.write(['catalog'], async (tx, now) => {
    if ((await tx.$count(locations, location)) === 0) throw Problem.notFound('Location');
    if ((await tx.updateChanged(locations, location, toColumns(body), now)) === 0) tx.rollbackNoChange();
  });
  return reload(ctx, id);
}

/** Locations are never deleted. */
const reload = async (ctx: Ctx, id: number) => (await locationList.byId(ctx, id, {}, { isAfterWrite: true }))!;

/** Errors that need no provider data. */
export const locationErrors = async (ctx: Ctx, { timezone }: { timezone?: unknown }) => ({
  missing: [],
  notValid: await findInvalidTimezone(ctx, timezone),
});

async function assertValidReferences(ctx: Ctx, body: LocationChange) {
  const unknown = await locationReferences.findUnknown(body, { ctx, reader: ctx.db });
  const notValid = [...unknown, ...(await findInvalidTimezone(ctx, body.timezone))];
  if (notValid.length > 0) throw Problem.invalidFields({ notValid }, Object.keys(LocationBody.properties));
}
