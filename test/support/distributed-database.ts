import { Client } from 'pg';
import { distribute } from '../../src/database/distribution.ts';
import { stubs } from './citus-stubs.ts';
import { connectionTo, ownDatabase } from './test-app.ts';

/** A database with the triggers of a distributed one, on one server; stubs stand for Citus. */
export async function distributedDatabase(...args: Parameters<typeof ownDatabase>) {
  const name = await ownDatabase(...args);
  const client = new Client(connectionTo(name));
  await client.connect();
  await client.query(stubs);
  await distribute(client);
  await client.end();
  return name;
}
