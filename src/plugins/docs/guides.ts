import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import type { Token, Tokens } from 'marked';
import GithubSlugger from 'github-slugger';
import { projectRoot } from '../../core/project.ts';
import { loadHighlighter, renderGuide, type RenderedGuide } from './render-guide.ts';

/** A page of docs/. `children` are pages listed below it in the index. */
export type Guide = { name: string; title: string; summary: string; children: Guide[] };
export type GuideGroup = { title: string; guides: Guide[] };
export type Guides = {
  groups: GuideGroup[];
  /** Names of all pages, the index (`README`) included. */
  names: Set<string>;
  readMarkdown(name: string): string;
  render(name: string): RenderedGuide;
  /** The text of all pages, by heading. */
  readSections(): SearchSection[];
};

const index = 'README';

/** Reads docs/README.md, if it exists; `path` is the URL path of the guides, `pages` the names that are served. */
export async function loadGuides(
  path: string,
  pages: ReadonlySet<string>,
  folder = join(projectRoot, 'docs'),
): Promise<Guides | undefined> {
  if (!existsSync(join(folder, 'README.md'))) return undefined;
  // Imported with the first guide, to save memory.
  const [{ Marked, lexer }, highlight] = await Promise.all([import('marked'), loadHighlighter()]);
  const all = findFiles(folder);
  const files = new Map([...all].filter(([name]) => name === index || pages.has(name)));
  const links = { all: new Set(all.values()), served: new Set(files.values()) };
  const readMarkdown = (name: string) => {
    const file = files.get(name)!;
    const text = readFileSync(join(folder, file), 'utf8');
    return toServedLinks(name === index ? withoutItems(text, links) : text, dirname(file), links);
  };
  const groups = toGroups(lexer(readMarkdown(index)), (name) => files.has(name));
  const listed = groups.flatMap(({ guides }) => guides).flatMap((guide) => [guide, ...guide.children]);
  const names = new Set([index, ...listed.map(({ name }) => name)]);
  return {
    groups,
    names,
    readMarkdown,
    render: (name) => renderGuide({ marked: new Marked<string, string>(), highlight }, readMarkdown(name), names, path),
    readSections: () => [...names].flatMap((name) => toSections(lexer(readMarkdown(name)), name, path)),
  };
}

/** The file of each page by its name, which its address has: a page may move to another folder. */
const findFiles = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => [basename(file, '.md'), file]),
  );

/** Groups are headings of level 2, each followed by a list of links to pages. */
function toGroups(tokens: Token[], exists: (name: string) => boolean): GuideGroup[] {
  const groups: GuideGroup[] = [];
  for (const token of tokens) {
    if (token.type === 'heading' && token['depth'] === 2) groups.push({ title: String(token['text']), guides: [] });
    else if (token.type === 'list') groups.at(-1)?.guides.push(...toGuides(token as Tokens.List, exists));
  }
  return groups;
}

const toGuides = ({ items }: Tokens.List, exists: (name: string) => boolean): Guide[] =>
  items.flatMap(({ tokens }) => {
    const [line, nested] = tokens as [Tokens.Text, Tokens.List | undefined];
    const [link, ...rest] = line.tokens ?? [];
    const name = link?.type === 'link' ? /^([\w-]+)\.md$/.exec(String(link['href']))?.[1] : undefined;
    if (name === undefined || !exists(name)) return [];
    const summary = rest
      .map(({ raw }) => raw)
      .join('')
      .replace(/^:\s*/, '');
    return [{ name, title: (link as Tokens.Link).text, summary, children: nested ? toGuides(nested, exists) : [] }];
  });

/** A heading of a page with the text below it. */
type SearchSection = { page: string; heading: string; url: string; text: string };

/** Splits the tokens of a page at its headings. */
function toSections(tokens: Token[], name: string, path: string): SearchSection[] {
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

/** The files of pages below docs/, and those of them that are served. */
type Pages = { all: Set<string>; served: Set<string> };

/** The targets of inline links and of link definitions. */
const links = /(\]\(|^\[[^\]]+\]: )([^\s:()#]+\.md)/gm;
const inlineLinks = /\[([^[\]]+)\]\(([^\s:()#]+\.md)(?:#[^\s)]*)?\)/g;
/** Items of the index, one line each. */
const items = /^ *- \[[^\]]+\]\(([^\s:()#]+\.md)\).*\n/gm;

const isUnserved = ({ all, served }: Pages, file: string) => all.has(file) && !served.has(file);

/** The index without its items of pages that are not served. */
const withoutItems = (markdown: string, pages: Pages) =>
  markdown.replaceAll(items, (item, target: string) => (isUnserved(pages, target) ? '' : item));

/** Links pages by their names, since all are served at one path; of pages that are not served the text remains. */
const toServedLinks = (markdown: string, folder: string, pages: Pages) =>
  markdown
    .replaceAll(inlineLinks, (link, text: string, target: string) =>
      isUnserved(pages, posix.join(folder, target)) ? text : link,
    )
    .replaceAll(links, (link, start: string, target: string) => {
      const file = posix.join(folder, target);
      return pages.served.has(file) ? start + posix.basename(file) : link;
    });
