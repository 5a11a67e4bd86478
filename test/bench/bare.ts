import Fastify from 'fastify';
import { createHash } from 'node:crypto';
import pg from 'pg';

// Minimal authenticated server: one prepared query per request and a constant body.
const [connectionString, port, statement, body] = process.argv.slice(2) as [string, string, string, string];
const pool = new pg.Pool({ connectionString, max: 4 });
const app = Fastify();
app.get('/', async (request, reply) => {
  const hash = createHash('sha256').update(String(request.headers['x-api-key'])).digest('hex');
  const { rows } = await pool.query({ name: 'authenticate', text: statement, values: [hash] });
  if (rows.length === 0) return reply.code(401).send();
  return reply.type('application/json; charset=utf-8').send(body);
});
app.get('/ready', () => 'ready');
await app.listen({ host: '127.0.0.1', port: Number(port) });
