import { join } from 'node:path';
import { projectRoot } from '../lib/project-root.ts';
import { readFileSync } from 'node:fs';

/** This build's version, as package.json says. */
export const packageVersion = () =>
  (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }).version;
