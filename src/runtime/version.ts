import { readFileSync } from 'node:fs';

/** This build's version, as package.json says. */
export const packageVersion = () =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
