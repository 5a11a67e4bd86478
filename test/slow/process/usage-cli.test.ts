import { expect, test } from 'vitest';
import { databaseUrl, runCli, startServer } from '../../support/processes.ts';
import { ownDatabase } from '../../support/test-app.ts';

test('a server stores its counts when it stops, applies a limit within seconds, and usage shows them', async () => {
  const env = { DATABASE_URL: databaseUrl(await ownDatabase()) };
  const cli = (...args: string[]) => runCli(args, env);
  const school = (await cli('provider', 'create', '--title', 'Busy', '--json')).json<{
    provider_id: number;
    api_key: string;
  }>();
  const id = String(school.provider_id);
  const server = await startServer({ ...env, DEMO_DATA: 'false' });
  const get = () => fetch(`${server.url}/v2/courses`, { headers: { 'x-api-key': school.api_key } });
  for (let n = 0; n < 5; n += 1) expect((await get()).status).toBe(200);

  expect((await cli('provider', 'limit', id, '--per-second', '1', '--burst', '1')).stdout).toContain(
    '1 requests a second',
  );
  await expect.poll(async () => (await get()).status, { interval: 200 }).toBe(429);
  expect((await cli('provider', 'limit', id, '--none')).code).toBe(0);
  await expect.poll(async () => (await get()).headers.has('ratelimit-limit'), { interval: 1_500 }).toBe(false);
  expect((await cli('provider', 'limit', id, '--per-second', '5', '--burst', '1')).code).toBe(1);
  expect((await cli('provider', 'limit', id, '--none', '--burst', '1')).code).toBe(2);
  expect((await cli('provider', 'limit', id)).code).toBe(1);

  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  const [usage] = (await cli('usage', '--provider', id, '--json')).json<Record<string, number>[]>();
  expect(usage).toMatchObject({ provider_id: school.provider_id, title: 'Busy', time_percent: 100, failed: 0 });
  expect(usage!['requests']).toBeGreaterThan(6);
  expect(usage!['refused']).toBeGreaterThan(0);
  expect((await cli('usage')).stdout).toMatch(/provider_id +title +requests/);
});
