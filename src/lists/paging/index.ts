/*
 * `createPageFinder` finds the keys of a list's page and its number of items. The folder patches nothing. Each strategy
 * can be removed by itself:
 * - the prepared statement (prepared-page.ts): let `find` in find-page.ts call `findKeys` alone;
 * - the index probes (index-probes.ts): let `probes` in `findKeys` be empty;
 * - the page hints (page-hints.ts): leave `ctx.pageHints` out, which http/list-cache adds.
 */

export { createPageFinder, type FoundPage, type PageSource } from './find-page.ts';
export type { Position } from './index-probes.ts';
export { createPageHints } from './page-hints.ts';
