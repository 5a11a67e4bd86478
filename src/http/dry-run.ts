import { Type } from '@sinclair/typebox';

/** The query of a POST whose body may have `dry_run`: in either place it prevents the change. */
export const DryRunQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'As in the body' })),
});

/** True if the query or the body asks for a dry run. */
export const isDryRun = ({ query, body }: { query: unknown; body: unknown }) =>
  [query, body].some((part) => (part as { dry_run?: unknown } | undefined)?.dry_run === true);
