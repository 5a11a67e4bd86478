import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { palette, toAsset } from '../../http/assets.ts';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const style = (file: string) => [palette, read('bar.css'), read(file)].join('\n');

export const guideStyle = toAsset('guides', 'css', style('guides.css'));
export const referenceStyle = toAsset('reference', 'css', style('reference.css'));

/** Adds copy buttons, and a search over the index of the guides, which is loaded when the field gets the focus. */
export const guideScript = toAsset('guides', 'js', read('guides.js'));

/** Configures Scalar. The script's own URL contains the base path, below which the document lies. */
export const referenceScript = toAsset('reference', 'js', read('reference.js'));
