import { readdirSync, readFileSync } from 'node:fs';

export const pluginNames = readdirSync('src/plugins');

/** The operations below /v2 that plugins bring. */
const operations: Record<string, RegExp> = {
  delivery: /\/v2\/(webhooks|mails)\b/,
  pages: /\/(catalog-settings|interests)\b/,
};
const removedPlugins = (process.env['WITHOUT_PLUGINS'] ?? '').split(',');
/** False for `GET /v2/webhooks` if the run is without the plugin that brings it. */
export const isServed = ({ route }: { route: string }) => !removedPlugins.some((name) => operations[name]?.test(route));

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
