import type { TObject, TSchema } from '@sinclair/typebox';
import type { Ctx } from '../database/context.ts';
import { findAccess } from '../core/schema/types.ts';

type Reader = 'partner' | 'publishable';
type ReaderContext = Pick<Ctx, 'providerId' | 'publishableFor'>;

const readerIn = ({ publishableFor }: ReaderContext): Reader =>
  publishableFor === undefined ? 'partner' : 'publishable';

/** True if the member is shown to the reader of another provider's item. */
export const isOpen = (member: TSchema, ctx: ReaderContext) => findAccess(member)?.[readerIn(ctx)] === true;

/** A test of a member's path, such as `course.title`: true if the reader is shown it of another provider's item. */
export const findShown = (item: TSchema) => (path: string, ctx: ReaderContext) => {
  let member: TSchema | undefined = item;
  for (const name of path.split('.')) {
    member = (member['properties'] as Record<string, TSchema> | undefined)?.[name];
    if (!member || !isOpen(member, ctx)) return false;
  }
  return true;
};
export type IsShown = ReturnType<typeof findShown>;

/** Sets the members of another provider's item that the reader may not see to the empty values of their types. */
export function hideClosedMembers({ properties }: TObject) {
  const closedTo = (reader: Reader) => {
    const closed = Object.entries(properties).filter(([, member]) => findAccess(member)?.[reader] !== true);
    return Object.fromEntries(closed.map(([name, member]) => [name, toEmptyValue(member)]));
  };
  const hidden = { partner: closedTo('partner'), publishable: closedTo('publishable') };
  return <T extends object>(item: T, { providerId }: { providerId: number }, ctx: ReaderContext): T =>
    providerId === ctx.providerId ? item : Object.assign(item, hidden[readerIn(ctx)]);
}

const emptyByType: Record<string, unknown> = { null: null, string: '', integer: 0, number: 0, boolean: false };

/** Null where the schema allows it. */
export function toEmptyValue(schema: TSchema): unknown {
  const types = [schema['type'] as string | string[]].flat();
  if (types.includes('null')) return null;
  if (types.includes('array')) return [];
  if (!types.includes('object')) return emptyByType[types[0]!];
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, TSchema>);
  return Object.fromEntries(members.map(([name, member]) => [name, toEmptyValue(member)]));
}
