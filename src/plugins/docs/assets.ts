import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { palette } from '../../http/palette.ts';
import { compressOnce, sendContent, type CompressedContent } from '../../http/compression/static-content.ts';

/** A style sheet or script. Its name contains a hash or a version, so that browsers can cache it for a year. */
export type Asset = { name: string; extension: keyof typeof types; content: CompressedContent };

const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' };
const cacheControl = 'public, max-age=31536000, immutable';

export const assetPath = ({ name }: Asset) => `/docs/${name}`;

export function serveAsset(app: FastifyInstance, asset: Asset) {
  const headers = { type: types[asset.extension], cacheControl };
  app.get(assetPath(asset), (request, reply) => sendContent(request, reply, asset.content, headers));
}

export function toAsset(name: string, extension: Asset['extension'], text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { name: `${name}-${hash}.${extension}`, extension, content: compressOnce(text) };
}

const header = `
.bar {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0 1.25rem;
  min-height: 3rem;
  padding: 0 1rem;
  border-bottom: 1px solid var(--line);
  background: var(--card);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
}
.bar p { margin: 0; font-weight: 600; }
.bar ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0; padding: 0; }
.bar a { display: inline-block; padding: 0.5rem 0; color: var(--link); text-underline-offset: 0.15em; }
.bar a[aria-current] { color: var(--ink); font-weight: 600; }
@media (max-width: 30rem) {
  .bar p { display: none; }
}
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
`;

export const guideStyle = toAsset(
  'guides',
  'css',
  `${palette}${header}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0;
  background: var(--page);
  color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  overflow-wrap: break-word;
}
a { color: var(--link); text-underline-offset: 0.15em; }
.skip { position: absolute; left: -100vw; padding: 0.5rem 1rem; background: var(--card); }
.skip:focus { left: 0.5rem; top: 0.5rem; }
main { min-width: 0; padding: 1.75rem 1rem 3rem; }
article > :not(pre, .code, .table), .source { max-width: 48rem; }
main:focus { outline: none; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
h1 { font-size: 1.75rem; margin: 0; }
h2 { font-size: 1.375rem; margin: 2.5rem 0 0.75rem; }
h3 { font-size: 1.125rem; margin: 1.75rem 0 0.5rem; }
h4 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
h1 + p { color: var(--soft); }
.anchor { text-decoration: none; opacity: 0; }
:hover > .anchor, .anchor:focus-visible { opacity: 1; }
p, ul, ol, pre, .table, blockquote { margin: 0.75rem 0; }
ul, ol { padding-left: 1.375rem; }
li { margin: 0.25rem 0; }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; }
:not(pre) > code { padding: 0.1em 0.3em; border: 1px solid var(--line); border-radius: 4px; background: var(--card); }
pre { line-height: 1.3; overflow-x: auto; padding: 0.875rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.code { position: relative; }
pre { width: fit-content; min-width: min(100%, 48rem); max-width: 100%; }
.code { width: fit-content; min-width: min(100%, 48rem); max-width: 100%; }
.copy, .menu {
  padding: 0.125rem 0.625rem;
  border: 1px solid var(--line);
  border-radius: 6px;
  background: var(--page);
  color: var(--ink);
  font: inherit;
  font-size: 0.875rem;
  cursor: pointer;
}
.copy { position: absolute; top: 0.375rem; right: 0.375rem; opacity: 0; }
.code:hover .copy, .code:focus-within .copy { opacity: 1; }
@media (hover: none) { .copy { opacity: 1; } .code pre { padding-top: 2.5rem; } }
.hljs-comment, .hljs-quote { color: var(--soft); font-style: italic; }
.hljs-string, .hljs-regexp, .hljs-addition { color: var(--good); }
.hljs-number, .hljs-literal, .hljs-symbol, .hljs-variable, .hljs-template-variable { color: var(--wait); }
.hljs-keyword, .hljs-built_in, .hljs-tag, .hljs-name { color: var(--link); }
.hljs-attr, .hljs-attribute, .hljs-title, .hljs-property { color: var(--link); }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.375rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { border-bottom-width: 2px; }
td[align='right'], th[align='right'] { text-align: right; font-variant-numeric: tabular-nums; }
blockquote { padding-left: 1rem; border-left: 3px solid var(--line); }
.source { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 0.9375rem; }
nav.guides { padding: 1.5rem 1rem; border-top: 1px solid var(--line); font-size: 0.9375rem; }
nav.guides[popover] { position: static; display: block; width: auto; height: auto; margin: 0; border: 0; inset: auto; }
nav.guides { background: var(--page); color: var(--ink); }
nav.guides form { margin: 0 0 1rem; }
nav.guides form[hidden], .results[hidden] { display: none; }
nav.guides input {
  width: 100%;
  padding: 0.375rem 0.625rem;
  border: 1px solid var(--soft);
  border-radius: 6px;
  background: var(--card);
  color: var(--ink);
  font: inherit;
}
.results p { margin: 0 0 0.5rem; color: var(--soft); font-size: 0.8125rem; }
.menu { display: none; }
@media (max-width: 59.99rem) {
  .menu { display: block; margin-left: auto; }
  nav.guides[popover] { display: none; }
  nav.guides[popover]:popover-open {
    position: fixed;
    display: block;
    inset: 3.5rem 0.5rem 0.5rem;
    border: 1px solid var(--line);
    border-radius: 8px;
    overflow-y: auto;
  }
}
nav.guides h2 { margin: 0 0 0.25rem; font-size: 0.875rem; color: var(--soft); }
nav.guides section + section { margin-top: 1.25rem; }
nav.guides ul { list-style: none; margin: 0; padding: 0; }
nav.guides li { margin: 0.125rem 0; }
nav.guides ul ul { padding-left: 0.875rem; }
nav.guides a { display: inline-block; padding: 0.125rem 0; text-decoration: none; }
nav.guides a:hover { text-decoration: underline; }
nav.guides a[aria-current] { color: var(--ink); font-weight: 600; }
nav.guides .sections { border-left: 2px solid var(--line); }
@media (min-width: 60rem) {
  .columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav.guides[popover] {
    position: sticky;
    top: 0;
    align-self: start;
    max-height: 100vh;
    overflow-y: auto;
    grid-column: 1;
    grid-row: 1;
    border-top: 0;
  }
  main { grid-column: 2; padding-left: 2rem; }
}
@media print { .bar, nav.guides, .anchor { display: none; } }
`,
);

export const referenceStyle = toAsset(
  'reference',
  'css',
  `${palette}${header}
body { margin: 0; --scalar-custom-header-height: 3rem; }
.bar { position: sticky; top: 0; z-index: 100; height: 3rem; box-sizing: border-box; flex-wrap: nowrap; }
/* Scalar's own greys and method colours have a contrast below 4.5:1. */
body.light-mode {
  --scalar-color-2: #555555;
  --scalar-color-3: #666666;
  --scalar-color-green: #00704a;
  --scalar-color-orange: #b03a00;
  --scalar-color-red: #c40d0d;
  --scalar-color-blue: #005fb8;
}
body.dark-mode {
  --scalar-color-2: #b8b8b8;
  --scalar-color-3: #a6a6a6;
  --scalar-color-red: #ff8a80;
}
.hljs-comment { color: #9a9a9a !important; }
`,
);

/** Configures Scalar. The script's own URL contains the base path, below which the document lies. */
export const referenceScript = toAsset(
  'reference',
  'js',
  `const base = new URL('..', document.currentScript.src).href;
Scalar.createApiReference('#reference', {
  url: base + 'docs/openapi.json',
  servers: [{ url: base.slice(0, -1) }],
  authentication: { preferredSecurityScheme: 'apiKey' },
  featuredClients: ['shell/curl', 'php/curl', 'js/fetch', 'python/requests'],
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hideModels: true,
  documentDownloadType: 'json',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});

// Scalar's markup violates rules of accessibility, most of all in the dialog that sends requests.
const repairs = {
  '[role=combobox]:not([aria-expanded])': (element) => element.setAttribute('aria-expanded', 'false'),
  'button:is([role=none], [role=alert])': (element) => element.removeAttribute('role'),
  '[role=dialog] section[aria-label^="Notifications alt"]': (element) =>
    element.setAttribute('aria-label', 'Notifications about the request'),
  // Scalar's own placeholder is a joke.
  '.scalar-password-input:not([placeholder="Your API key"])': (element) =>
    element.setAttribute('placeholder', 'Your API key'),
  '.cm-content:not([aria-label])': (element) => element.setAttribute('aria-label', 'Code'),
  '.cm-scroller[tabindex="-1"]': (element) => element.setAttribute('tabindex', '0'),
  'button[aria-label^=Copy][aria-controls]': (element) => {
    if (!document.getElementById(element.getAttribute('aria-controls'))) element.removeAttribute('aria-controls');
  },
};
new MutationObserver(() => {
  for (const [selector, repair] of Object.entries(repairs)) document.querySelectorAll(selector).forEach(repair);
}).observe(document.body, { childList: true, subtree: true, attributeFilter: ['aria-expanded', 'placeholder', 'role', 'tabindex'] });

// The dialog has a main of its own, so the page behind it is inert. Scalar hides a closed dialog by this class.
new MutationObserver(() => {
  const dialog = document.querySelector('.scalar-client--open [role=dialog]');
  for (const part of document.querySelectorAll('main, .bar')) part.inert = dialog !== null && !dialog.contains(part);
}).observe(document.body, { subtree: true, attributeFilter: ['class'] });
`,
);
