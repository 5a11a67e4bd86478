import type { TSchema } from '@sinclair/typebox';
import { findAccess } from '../../src/core/schema/types.ts';
import { findStorage } from '../../src/lists/fields.ts';

type Node = TSchema & { items?: Node; properties?: Record<string, Node> };

/** The members of an object, or of the objects in a list. */
const membersOf = ({ items, properties }: Node): Record<string, Node> => ({
  ...(items && membersOf(items)),
  ...properties,
});

/** True if each member of the path, without indexes, is declared open to the reader. */
export function isOpenTo(reader: 'partner' | 'publishable', schema: Node, [name, ...below]: string[]): boolean {
  if (name === undefined) return true;
  const member = membersOf(schema)[name];
  return member !== undefined && findAccess(member)?.[reader] === true && isOpenTo(reader, member, below);
}

/** The paths of the members, at any depth, that declare nothing; fields of a body declare their column. */
export const findUndeclared = (schema: Node, path: string): string[] =>
  Object.entries(membersOf(schema)).flatMap(([name, member]) => [
    ...(findAccess(member) === undefined && findStorage(member) === undefined ? [`${path}.${name}`] : []),
    ...findUndeclared(member, `${path}.${name}`),
  ]);
