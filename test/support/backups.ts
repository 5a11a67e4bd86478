import { onTestFinished } from 'vitest';
import { Client } from 'pg';
import { asAdmin, connectionTo } from './test-app.ts';

/** A database without any table, dropped after the test, or after the file with `afterAll`. */
export async function emptyDatabase(options = '', whenDone: (work: () => Promise<void>) => void = onTestFinished) {
  const name = `booking_target_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  await asAdmin(`create database ${name} template template0 ${options}`);
  whenDone(async () => asAdmin(`drop database if exists ${name} with (force)`));
  return name;
}

export async function runSql<T extends object>(database: string, statement: string, values: unknown[] = []) {
  const client = new Client(connectionTo(database));
  await client.connect();
  try {
    return (await client.query<T>(statement, values)).rows;
  } finally {
    await client.end();
  }
}
