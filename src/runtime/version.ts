import { join } from 'node:path';
import { projectRoot } from '../lib/project-root.ts';
import { readFileSync } from 'node:fs';

export const packageVersion = () =>
  (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }).version;
