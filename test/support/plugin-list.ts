import { readdirSync, readFileSync } from 'node:fs';

export const pluginNames = readdirSync('src/plugins');

/** src/plugins.ts without these plugins: their imports, and their names in the list. */
export function listWithout(removed: string[]) {
  const isImport = (line: string) => removed.some((name) => line.includes(`from './plugins/${name}/`));
  const lines = readFileSync('src/plugins.ts', 'utf8').split('\n');
  return lines
    .filter((line) => !isImport(line))
    .join('\n')
    .replace(/\[([^\]]+)\];/, (_list, listed: string) => {
      const kept = listed.split(',').map((name) => name.trim());
      return `[${kept.filter((name) => !removed.includes(name)).join(', ')}];`;
    });
}
