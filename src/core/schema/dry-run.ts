import { Type } from '@sinclair/typebox';
import { invalid } from './coercion.ts';
import { emptyValue } from './types.ts';

/** The field `dry_run` of a query or body. An empty one is refused: a client that sends it may mean either. */
export const dryRun = (description: string) =>
  Type.Optional(Type.Boolean({ default: false, description, [emptyValue as never]: invalid }));

/** The query of a POST whose body may have `dry_run`: in either place it prevents the change. */
export const DryRunQuery = Type.Object({ dry_run: dryRun('As in the body') });

/** True if the query or the body asks for a dry run. */
export const isDryRun = ({ query, body }: { query: unknown; body: unknown }) =>
  [query, body].some((part) => (part as { dry_run?: unknown } | undefined)?.dry_run === true);
