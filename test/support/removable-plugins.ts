/**
 * Checks that each plugin can be removed: a copy of src without its folder and its line in plugins.ts passes the type
 * check, as does one without any plugin. Negative control: a copy that keeps the line does not.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listWithout, pluginNames } from './plugin-list.ts';

const folder = 'test/output/removable-plugins';

/** The errors of the type check of a copy. One checker takes less than half of the processor time of several. */
async function check(copy: string, removed: string[], list = listWithout(removed)) {
  const path = join(folder, copy);
  mkdirSync(path, { recursive: true });
  const isRemoved = (file: string) => removed.some((name) => file === join('src/plugins', name));
  cpSync('src', join(path, 'src'), { recursive: true, filter: (file) => !isRemoved(file) });
  writeFileSync(join(path, 'src/plugins.ts'), list);
  const config = { extends: '../../../../tsconfig.json', compilerOptions: { rootDir: 'src' }, include: ['src'] };
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify(config));
  return promisify(execFile)('node_modules/.bin/tsc', ['-p', path, '--checkers', '1']).then(
    () => '',
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}

rmSync(folder, { recursive: true, force: true });
const failed: string[] = [];
for (const [copy, removed] of [...pluginNames.map((name) => [name, [name]] as const), ['all', pluginNames] as const]) {
  const errors = await check(copy, [...removed]);
  if (errors !== '') failed.push(`without ${copy}:\n${errors}`);
}
const control = await check('control', [pluginNames[0]!], listWithout([]));
if (control === '') failed.push('The negative control passes the type check');
rmSync(folder, { recursive: true, force: true });
const summary = `Each of ${pluginNames.length} plugins can be removed: ${pluginNames.join(', ')}`;
console.log(failed.length === 0 ? summary : failed.join('\n'));
process.exit(failed.length === 0 ? 0 : 1);
