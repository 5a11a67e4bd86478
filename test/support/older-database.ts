import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { Client } from 'pg';
import { expect, onTestFinished } from 'vitest';
import { asAdmin, connectionTo } from './test-app.ts';

/** A database with the migrations before the named one, and two schools. */
export async function migrateUntil(name: string, migration: string) {
  await asAdmin(`create database ${name}`);
  onTestFinished(() => asAdmin(`drop database if exists ${name} with (force)`));
  const migrationsFolder = mkdtempSync(join(tmpdir(), 'booking-migrations-'));
  onTestFinished(() => rmSync(migrationsFolder, { recursive: true }));
  cpSync('migrations', migrationsFolder, { recursive: true });
  const file = join(migrationsFolder, 'meta/_journal.json');
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { tag: string }[] };
  const before = journal.entries.findIndex(({ tag }) => tag.endsWith(migration));
  expect(before).toBeGreaterThan(0);
  writeFileSync(file, JSON.stringify({ ...journal, entries: journal.entries.slice(0, before) }));

  const client = new Client(connectionTo(name));
  await client.connect();
  onTestFinished(() => client.end());
  await migrate(drizzle({ client }), { migrationsFolder });
  await client.query(`insert into providers (title, slug, created_at, updated_at)
    values ('One', 'one', now(), now()), ('Two', 'two', now(), now())`);
  return client;
}
