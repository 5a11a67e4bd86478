import GithubSlugger from 'github-slugger';
import type { Token, Tokens } from 'marked';

/** A heading of a page with the text below it. */
export type SearchSection = { page: string; heading: string; url: string; text: string };

/** Splits the tokens of a page at its headings. */
export function toSections(tokens: Token[], name: string, path: string): SearchSection[] {
  const slugger = new GithubSlugger();
  const page = name === 'README' ? path : `${path}/${name}`;
  const sections: SearchSection[] = [];
  let title = '';
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { depth, text } = token as Tokens.Heading;
      const url = depth === 1 ? page : `${page}#${slugger.slug(text)}`;
      if (depth === 1) slugger.slug(text);
      const heading = text.replaceAll('`', '');
      if (depth === 1) title = heading;
      sections.push({ page: title, heading, url, text: '' });
    } else if (sections.length > 0) {
      const section = sections.at(-1)!;
      section.text = `${section.text} ${toText(token.raw)}`.trim();
    }
  }
  return sections;
}

/** Markdown without its links, tables and code fences, in one line. */
const toText = (markdown: string) =>
  markdown
    .replaceAll(/\]\([^)]*\)/g, '')
    .replaceAll(/```\w*|[`*[\]|\\]|-{3,}/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
