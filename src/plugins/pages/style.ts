import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { palette, toAsset } from '../../http/assets.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
/** Colours, type, spacing and form controls of all pages. */
const base = palette + read('base.css');

export const catalogStyle = toAsset('catalog', 'css', base + read('catalog.css'));
export const myStyle = toAsset('style', 'css', base + read('my.css'));
