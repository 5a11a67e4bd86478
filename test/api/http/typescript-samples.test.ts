import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/processes.ts';
import { sharedTestApp } from '../../support/test-app.ts';

type Operation = { operationId: string; 'x-codeSamples': { lang: string; label: string; source: string }[] };

const { app } = await sharedTestApp();
const readOperations = async (url: string) => {
  const { paths } = (await app.inject(url)).json<{ paths: Record<string, Record<string, Operation>> }>();
  return Object.values(paths).flatMap((operations) => Object.values(operations));
};
const operations = await readOperations('/docs/openapi.json');
const sources = new Map(
  operations.map(({ operationId, 'x-codeSamples': [sample] }) => [`${operationId}.mts`, sample!.source]),
);

/** Runs the compiler; the folder of the files is removed after the test. */
function compile(files: Map<string, string>) {
  const cwd = temporaryFolder();
  for (const [name, text] of files) writeFileSync(join(cwd, name), text);
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types'), '--skipLibCheck'];
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023', ...types];
  const { stdout } = spawnSync(resolve('node_modules/.bin/tsc'), [...options, ...files.keys()], {
    cwd,
    encoding: 'utf8',
  });
  return stdout;
}

test('every operation has a sample that is labelled TypeScript, named after it, without unfilled parameters', () => {
  expect(operations.length).toBeGreaterThan(0);
  for (const { operationId, 'x-codeSamples': samples } of operations) {
    expect(samples.map(({ lang, label }) => [lang, label])).toEqual([['typescript', 'TypeScript']]);
    expect(samples[0]!.source).toMatch(
      new RegExp(`^// ${operationId}\\.mts\nconst response = await fetch\\("http[^{}"]+"`),
    );
  }
});

test('the samples compile under strict', () => {
  expect(compile(sources)).toBe('');
  expect(compile(new Map([['wrong.mts', 'export const length = (text) => text.length;']]))).toMatch(
    /^wrong.mts.*TS7006/,
  );
});

test('/openapi.json has no samples', async () => {
  expect((await readOperations('/openapi.json')).filter((one) => 'x-codeSamples' in one)).toEqual([]);
});
