import Fastify from 'fastify';
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { RecordedStatement } from '../support/record-statements.ts';

export type BareServer = { connectionString: string; port: number; statements: RecordedStatement[]; body: string };

// Minimal authenticated server: looks the key up, sends these prepared statements at once, and returns a constant body.
process.on('message', ({ connectionString, port, statements, body }: BareServer) => {
  const pool = new pg.Pool({ connectionString, max: 4 });
  const [authenticate, ...others] = statements;
  const named = others.map(({ text, values }, n) => ({ name: `statement_${n}`, text, values }));
  const app = Fastify();
  app.get('/', async (request, reply) => {
    const hash = createHash('sha256').update(String(request.headers['x-api-key'])).digest('hex');
    const { rows } = await pool.query({ name: 'authenticate', text: authenticate!.text, values: [hash] });
    if (rows.length === 0) return reply.code(401).send();
    await Promise.all(named.map((query) => pool.query(query)));
    return reply.type('application/json; charset=utf-8').send(body);
  });
  void app.listen({ host: '127.0.0.1', port }).then(() => process.send!('ready'));
});
