import { eq, sql, type Placeholder, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';

// All tenancy conditions are made here, so that a negative control can build the server without them.

export const equalsTenant = (column: PgColumn, providerId: number | Placeholder): SQL => eq(column, providerId);

export const equalTenants = (column: PgColumn, other: PgColumn): SQL => eq(column, other);

/** `providerIds` is an array parameter. */
export const equalsAnyTenant = (column: PgColumn, providerIds: SQL): SQL => sql`${column} = any(${providerIds})`;
