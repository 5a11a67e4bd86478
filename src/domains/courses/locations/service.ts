import type { Ctx } from '../../../database/context.ts';
import { Problem } from '../../../core/errors.ts';
import { findInvalidTimezone } from '../../../database/time-zones.ts';
import { locations } from '../../../database/tables/places.ts';
import { bodyWriter } from '../../../lists/body-writer.ts';
import { itemOperations } from '../../../lists/item-operations.ts';
import { LocationBody, type ListedLocation, type LocationChange } from './fields.ts';
import { locationList } from './list.ts';

const writer = bodyWriter(locations, LocationBody);
export const locationReferences = writer.references;

const operations = itemOperations<ListedLocation, LocationBody, LocationChange>({
  ...{ item: 'Location', table: locations, areas: ['catalog'], writer, find: locationList.byId },
});
export const getLocation = operations.get;

export async function createLocation(ctx: Ctx, body: LocationBody) {
  await assertValidReferences(ctx, body);
  return operations.create(ctx, body);
}

/** Existing course dates keep their capacities. */
export async function updateLocation(ctx: Ctx, id: number, body: LocationChange) {
  await assertValidReferences(ctx, body);
  return operations.update(ctx, id, body);
}

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
