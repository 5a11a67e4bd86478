import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { setImmediate as pause } from 'node:timers/promises';
import type sanitizer from 'sanitize-html';
import { safeLink, webProtocols } from './safe-link.ts';

/** Loaded with the first description, to save memory. */
let sanitize: typeof sanitizer | undefined;
const require = createRequire(import.meta.url);

const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/** More tags than real texts have; sanitizing tens of thousands would block the event loop. */
const maxTags = 2_000;

/** Sanitizes a school's HTML: text markup and links only. */
export const sanitizeHtml = (html: string) => (html.split('<').length > maxTags ? stripTags(html) : sanitizeTags(html));

/** Keyed by the input's SHA-256; `maxSize` is in characters. */
const cache = new LRUCache<string, string>({ maxSize: 10_000_000, sizeCalculation: (html) => html.length + 100 });

/** Yields to the event loop after each text, since sanitizing is slow. */
export async function sanitizeCached(html: string): Promise<string> {
  const key = createHash('sha256').update(html).digest('base64');
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const safe = sanitizeHtml(html);
  cache.set(key, safe);
  await pause();
  return safe;
}

const stripTags = (html: string) =>
  html
    .replace(/(?:<[^<>]*>)+/g, ' ')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .trim();

/** Elements that begin a line of their own. */
const blocks = [
  ...['address', 'article', 'aside', 'center', 'details', 'dd', 'dl', 'dt', 'fieldset', 'figcaption', 'figure'],
  ...['footer', 'form', 'header', 'hgroup', 'legend', 'main', 'nav', 'section', 'summary'],
];
const table = ['table', 'caption', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'];
/** Their end is white space in the text too. */
const separated = /<\/(?:div|table|caption|tr|th|td)>/g;
const hasTags = (html: string) => /<[a-z!/]/i.test(html);

function sanitizeTags(html: string) {
  const safe = runSanitizer(html).replace(separated, '$& ').trim();
  if (safe.replace(/<\/?(?:div|table|tbody|tr|td)>|\s/g, '') === '') return '';
  return hasTags(html) ? safe : safe.replace(/\r\n?|\n/g, '<br />\n');
}

function runSanitizer(html: string) {
  sanitize ??= require('sanitize-html') as typeof sanitizer;
  return sanitize(html, {
    allowedTags: [
      ...['p', 'br', 'ul', 'ol', 'li', 'strong', 'b', 'em', 'i', 'blockquote', 'a', 'h3', 'div', 'pre'],
      ...table,
    ],
    allowedAttributes: { a: ['href', 'rel'], th: ['colspan', 'rowspan'], td: ['colspan', 'rowspan'] },
    transformTags: {
      // Below the page's own headings.
      ...Object.fromEntries(headings.map((heading) => [heading, 'h3'])),
      ...Object.fromEntries(blocks.map((block) => [block, 'div'])),
      hr: 'br',
      a: (tagName, { href }) => {
        const safe = contactLink(href);
        const attribs: sanitizer.Attributes = safe === undefined ? {} : { href: safe, rel: 'noopener' };
        return { tagName, attribs };
      },
    },
  });
}

const contactProtocols = [...webProtocols, 'mailto:', 'tel:'];

/** Accepts the links of `safeLink`, those to write and to call, and those that leave out https. */
const contactLink = (address = '') => safeLink(address.trim().replace(/^\/\//, 'https://'), contactProtocols);
