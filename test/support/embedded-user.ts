// A process that uses the embedded database: prints "ready", then runs commands from its standard input.
import { createInterface } from 'node:readline';
import pg from 'pg';
import { openEmbeddedDatabase } from '../../src/embedded-postgres/index.ts';

const writeLine = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function query(connection: pg.ClientConfig, text: string) {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return { rows: (await client.query(text)).rows };
  } catch (error) {
    return { error: String(error) };
  } finally {
    await client.end().catch(() => undefined);
  }
}

try {
  const database = await openEmbeddedDatabase({ dataDir: process.argv[2]!, fsync: false });
  writeLine({ ready: true, notes: database.notes, socket: database.connection.host });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
    writeLine(await query(database.connection, line));
  }
  await database.stop();
  writeLine({ stopped: true });
} catch (error) {
  writeLine({ error: (error as Error).message });
}
process.exit();
