import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toAsset } from '../../http/assets.ts';
import { baseStyle } from '../../http/html/style.ts';

const text = readFileSync(join(import.meta.dirname, 'catalog.css'), 'utf8');
export const stylesheet = toAsset('catalog', 'css', baseStyle + text);
