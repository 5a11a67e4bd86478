import type { Tx } from '../../../database/client.ts';
import type { Ctx } from '../../../database/context.ts';
import { execute } from '../../../database/statements.ts';
import * as sql from './sql.ts';
import { forgetReminder } from './sql.ts';

type School = Pick<Ctx, 'providerId'>;

/** Time and place of a course date, to compare. */
export async function readSchedule({ providerId }: School, tx: Tx, courseDateId: number) {
  const [found] = await execute<{ schedule: string }>(tx, sql.readSchedule, [providerId, courseDateId]);
  return found!.schedule;
}

/** As many gatherings as a letter lists. */
export const maxListed = 50;
const shorten = (schedule: string) =>
  JSON.stringify(JSON.parse(schedule || '{}'), (name, value: unknown) =>
    name === 'gatherings' && Array.isArray(value) ? (value as unknown[]).slice(0, maxListed) : value,
  );

/** Tells the participants of a date that is not over if its time or place has changed, or it is reopened. */
export async function queueDateChanges(school: School, tx: Tx, now: string, courseDateId: number, before: string) {
  if ((await readSchedule(school, tx, courseDateId)) === before) return;
  await execute(tx, sql.queueDateChanges, [school.providerId, courseDateId, now, shorten(before)]);
  await execute(tx, forgetReminder, [school.providerId, courseDateId]);
}
