/** Private members of a prepared query that the row decoder reads or sets. */
export type PreparedQuery = {
  customResultMapper?: (rows: unknown[][]) => unknown;
  joinsNotNullableMap?: Record<string, boolean> | undefined;
};

/**
 * Throws if a private member of drizzle-orm or pg is missing that this folder or `transaction.ts` uses: of a query
 * builder, a client or an SQL expression.
 */
export function assertInternals(builder: object, client: object, expression: object) {
  const missing = [...missingOfDrizzle(builder), ...missingOfExpression(expression), ...missingOfPg(client)];
  if (missing.length > 0) {
    throw new Error(
      `this version of ${missing.join(' and ')} is unknown to src/database/query-builder; install the versions of package-lock.json`,
    );
  }
}

function missingOfDrizzle(builder: object) {
  const { session } = builder as { session?: { prepareQuery?: unknown; client?: unknown } };
  if (typeof session?.prepareQuery !== 'function') return ['drizzle-orm (session.prepareQuery)'];
  if (session.client === undefined) return ['drizzle-orm (session.client)'];
  const prepare = session.prepareQuery as (...args: unknown[]) => object;
  const prepared = prepare.call(session, { sql: 'select 1', params: [] }, [], undefined, true);
  return ['client', 'customResultMapper', 'joinsNotNullableMap']
    .filter((name) => !(name in prepared))
    .map((name) => `drizzle-orm (${name})`);
}

function missingOfExpression(expression: object) {
  const { decoder } = expression as { decoder?: { mapFromDriverValue?: unknown } };
  return typeof decoder?.mapFromDriverValue === 'function' ? [] : ['drizzle-orm (SQL.decoder)'];
}

function missingOfPg(client: object) {
  const { connection } = client as { connection?: { stream?: { cork?: unknown; destroy?: unknown } } };
  const { cork, destroy } = connection?.stream ?? {};
  return [cork, destroy].every((method) => typeof method === 'function') ? [] : ['pg (connection.stream)'];
}
