import Fastify from 'fastify';

// Minimal server: a constant body without authentication.
process.on('message', ({ port, body }: { port: number; body: string }) => {
  const bytes = Buffer.from(body);
  const app = Fastify();
  app.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
  void app.listen({ host: '127.0.0.1', port }).then(() => process.send!('ready'));
});
