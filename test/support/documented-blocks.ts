import { readFileSync } from 'node:fs';
import { getPage } from './docs-pages.ts';

/** The code blocks of a language below a heading of a page of docs, up to the next heading; indentation removed. */
export function documentedBlocks(page: string, heading: string, language = 'sh') {
  const text = readFileSync(getPage(page), 'utf8');
  const [, section] = text.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`${page}.md has no heading "${heading}"`);
  const blocks = section.split('\n## ')[0]!.matchAll(new RegExp(`^( *)\`\`\`${language}\n(.*?)^ *\`\`\``, 'gms'));
  return [...blocks].map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}
