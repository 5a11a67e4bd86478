import Fastify from 'fastify';

// The least that a server can do for an answer: bytes that are there already, to anybody.
process.on('message', ({ port, body }: { port: number; body: string }) => {
  const bytes = Buffer.from(body);
  const app = Fastify();
  app.get('/', (_request, reply) => reply.type('application/json; charset=utf-8').send(bytes));
  void app.listen({ host: '127.0.0.1', port }).then(() => process.send!('ready'));
});
