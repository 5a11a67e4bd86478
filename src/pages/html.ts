import { createRequire } from 'node:module';
import type sanitizer from 'sanitize-html';

/** Loaded with the first description, to save memory. */
let sanitize: typeof sanitizer | undefined;
const require = createRequire(import.meta.url);

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/** More tags than real texts have; sanitizing tens of thousands would block the event loop. */
const maxTags = 2_000;

/** Sanitizes a school's HTML: text markup and links only. */
export const sanitizeHtml = (html: string) => (html.split('<').length > maxTags ? stripTags(html) : sanitizeTags(html));

const stripTags = (html: string) =>
  html
    .replace(/(?:<[^<>]*>)+/g, ' ')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .trim();

const sanitizeTags = (html: string) => {
  sanitize ??= require('sanitize-html') as typeof sanitizer;
  return sanitize(html, {
    allowedTags: ['p', 'br', 'ul', 'ol', 'li', 'strong', 'b', 'em', 'i', 'blockquote', 'a', 'h3'],
    allowedAttributes: { a: ['href', 'rel'] },
    transformTags: {
      // Below the page's own headings.
      ...Object.fromEntries(headings.map((heading) => [heading, 'h3'])),
      a: (tagName, { href }) => {
        const safe = safeLink(href);
        const attribs: sanitizer.Attributes = safe === undefined ? {} : { href: safe, rel: 'noopener' };
        return { tagName, attribs };
      },
    },
  }).trim();
};

/** The URL if it is http or https, else undefined: `javascript:` URLs would run scripts. */
export function safeLink(address: string | null | undefined): string | undefined {
  if (!address || !URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
