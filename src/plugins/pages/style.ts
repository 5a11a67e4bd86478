import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { palette, toAsset } from '../../http/assets.ts';

const text = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');
// The leading line break counts for the name alone, which stays that of earlier builds.
export const stylesheet = toAsset('style', 'css', `\n${palette}${text}`);
