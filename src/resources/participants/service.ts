import { eq } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import * as t from '../../core/schema/types.ts';
import { Problem } from '../../core/errors.ts';
import type { Tx } from '../../database/client.ts';
import { courseDates } from '../../database/tables/coursedates.ts';
import { participants } from '../../database/tables/participants.ts';
import { tenantWhere } from '../../lists/tenant-scope.ts';
import * as statuses from '../../core/reference/statuses.ts';
import { decideSeats, promoteWaitingLists } from '../seats/service.ts';
import type { ParticipantChange } from './body-schema.ts';
import { participantList } from './list.ts';
import type { ParticipantRow } from './schema.ts';

/** One participant, deregistered and archived ones too. */
export async function getParticipant(
  ctx: Ctx,
  id: number,
  query: Parameters<typeof participantList.byId>[2] = {},
  { isAfterWrite = false } = {},
) {
  const participant = await participantList.byId(ctx, id, query, { isAfterWrite });
  if (participant === undefined) throw Problem.notFound('Participant');
  return participant;
}

/** A new status that holds a seat follows the rules of booking; a freed seat promotes the waiting list. */
export async function updateParticipant(ctx: Ctx, id: number, body: ParticipantChange) {
  const participant = tenantWhere(ctx, participants, eq(participants.id, id));
  await ctx.write(['dates', 'people'], async (tx, now) => {
    const [row] = await tx.select().from(participants).where(participant);
    if (row === undefined) throw Problem.notFound('Participant');

    const changes = {
      ...toColumns(row, body),
      statusId: await decideStatus(ctx, tx, row, body.idStatus ?? row.statusId),
    };
    const hasNewStatus = changes.statusId !== row.statusId;
    if (!hasNewStatus && isSame(changes, row)) {
      tx.rollbackNoChange();
      return;
    }
    const statusUpdatedAt = hasNewStatus ? now : row.statusUpdatedAt;
    await tx
      .update(participants)
      .set({ ...changes, statusUpdatedAt, updatedAt: now })
      .where(participant);
    if (statuses.holdsSeat(row.statusId) && !statuses.holdsSeat(changes.statusId))
      await promoteWaitingLists(ctx, tx, now, [row.courseDateId]);
  });
  return getParticipant(ctx, id, {}, { isAfterWrite: true });
}

/** Returns the status that a request for one gets. Confirmed and unconfirmed hold the same seat, so they swap freely. */
async function decideStatus(ctx: Ctx, tx: Tx, row: ParticipantRow, requested: number): Promise<number> {
  if (requested === row.statusId || statuses.hasLeft(requested)) return requested;
  if (!isRequestable(requested)) throw Problem.invalidFields({ notValid: ['idStatus'] });
  if (
    requested !== statuses.participantStatus.waiting &&
    (row.statusId === statuses.participantStatus.confirmed || row.statusId === statuses.participantStatus.unconfirmed)
  )
    return requested;

  const [date] = await tx
    .select()
    .from(courseDates)
    .where(tenantWhere(ctx, courseDates, eq(courseDates.id, row.courseDateId)));
  const isClosed = date!.statusId === statuses.canceled || date!.deletedAt !== null;
  if (isClosed && !statuses.holdsSeat(row.statusId)) throw Problem.invalidFields({ notValid: ['idStatus'] });
  const dateWithoutRow = {
    ...date!,
    numConfirmed: date!.numConfirmed - Number(row.statusId === statuses.participantStatus.confirmed),
    numOverbooked: date!.numOverbooked - Number(row.statusId === statuses.participantStatus.overbooked),
    numUnconfirmed: date!.numUnconfirmed - Number(row.statusId === statuses.participantStatus.unconfirmed),
    numWaiting: date!.numWaiting - Number(row.statusId === statuses.participantStatus.waiting),
  };
  const request = { courseDateId: row.courseDateId, status: requested };
  const [status] = decideSeats([dateWithoutRow], [request], { check: true, waitWhenFull: false });
  if (status === undefined) throw new Problem('invalid', 'No seat is available');
  return status;
}

const isRequestable = (statusId: number): statusId is 1 | 3 | 7 =>
  statusId === statuses.participantStatus.confirmed ||
  statusId === statuses.participantStatus.waiting ||
  statusId === statuses.participantStatus.unconfirmed;

const toColumns = (row: ParticipantRow, body: ParticipantChange) => ({
  paidId: body.idPaid ?? row.paidId,
  completed: body.completed ?? row.completed,
  passed: body.passed ?? row.passed,
  noShow: body.no_show ?? row.noShow,
  customProperties: t.mergeCustomProperties(row.customProperties, body.custom_properties),
});

const isSame = (changes: Partial<ParticipantRow>, row: ParticipantRow) =>
  Object.entries(changes).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(row[name as keyof ParticipantRow]),
  );
