import { readdirSync } from 'node:fs';
import { basename } from 'node:path';

/** The name of a page, which its address below /docs/guides has. */
export const pageName = (page: string) => basename(page, '.md');

/** The Markdown files below docs/ as paths from the root, ordered by name. */
export const docsPages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`)
  .toSorted((a, b) => (pageName(a) < pageName(b) ? -1 : 1));

export function getPage(name: string) {
  const page = docsPages.find((one) => pageName(one) === name);
  if (page === undefined) throw new Error(`docs has no page ${name}`);
  return page;
}
