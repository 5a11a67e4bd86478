import { createRequire } from 'node:module';
import type sanitizer from 'sanitize-html';

/** With the first page that shows a text: it takes memory that a server which is asked for none can do without. */
let sanitize: typeof sanitizer | undefined;
const load = createRequire(import.meta.url);

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/** More tags than a text for people has; to sort out tens of thousands would hold up everybody else. */
const maxTags = 2_000;

/** A school's HTML, with what a text needs and nothing else: no scripts, styles, images, forms or frames. */
export const safeHtml = (html: string) => (html.split('<').length > maxTags ? getText(html) : sorted(html));

/** Without any tag. */
const getText = (html: string) =>
  html
    .replace(/(?:<[^<>]*>)+/g, ' ')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .trim();

const sorted = (html: string) => {
  sanitize ??= load('sanitize-html') as typeof sanitizer;
  return sanitize(html, {
    allowedTags: ['p', 'br', 'ul', 'ol', 'li', 'strong', 'b', 'em', 'i', 'blockquote', 'a', 'h3'],
    allowedAttributes: { a: ['href', 'rel'] },
    transformTags: {
      // The page's own headings are above them.
      ...Object.fromEntries(headings.map((heading) => [heading, 'h3'])),
      a: (tagName, { href }) => {
        const safe = safeLink(href);
        const attribs: sanitizer.Attributes = safe === undefined ? {} : { href: safe, rel: 'noopener' };
        return { tagName, attribs };
      },
    },
  }).trim();
};

/** An address that may stand in a link: of the web and nothing else, so that none can run a script. */
export function safeLink(address: string | null | undefined): string | undefined {
  if (!address || !URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
