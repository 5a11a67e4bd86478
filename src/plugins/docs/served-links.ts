import { posix } from 'node:path';

/** The files of pages below docs/, and those of them that are served. */
type Pages = { all: Set<string>; served: Set<string> };

/** The targets of inline links and of link definitions. */
const links = /(\]\(|^\[[^\]]+\]: )([^\s:()#]+\.md)/gm;
const inlineLinks = /\[([^[\]]+)\]\(([^\s:()#]+\.md)(?:#[^\s)]*)?\)/g;
/** Items of the index, one line each. */
const items = /^ *- \[[^\]]+\]\(([^\s:()#]+\.md)\).*\n/gm;

const isUnserved = ({ all, served }: Pages, file: string) => all.has(file) && !served.has(file);

/** The index without its items of pages that are not served. */
export const withoutItems = (markdown: string, pages: Pages) =>
  markdown.replaceAll(items, (item, target: string) => (isUnserved(pages, target) ? '' : item));

/**
 * Replaces links to the files of other pages by links to their names, since all pages are served at one path; of links
 * to pages that are not served only the text remains.
 */
export const toServedLinks = (markdown: string, folder: string, pages: Pages) =>
  markdown
    .replaceAll(inlineLinks, (link, text: string, target: string) =>
      isUnserved(pages, posix.join(folder, target)) ? text : link,
    )
    .replaceAll(links, (link, start: string, target: string) => {
      const file = posix.join(folder, target);
      return pages.served.has(file) ? start + posix.basename(file) : link;
    });
