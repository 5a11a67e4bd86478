import { posix } from 'node:path';

/** The targets of inline links and of link definitions. */
const links = /(\]\(|^\[[^\]]+\]: )([^\s:()#]+\.md)/gm;

/** Replaces links to the files of other pages by links to their names, since all pages are served at one path. */
export const toServedLinks = (markdown: string, folder: string, files: Set<string>) =>
  markdown.replaceAll(links, (link, start: string, target: string) => {
    const file = posix.join(folder, target);
    return files.has(file) ? start + posix.basename(file) : link;
  });
