import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { palette } from '../assets.ts';

/** Colours, type, spacing and form controls of all pages. */
export const baseStyle = palette + readFileSync(join(import.meta.dirname, 'base.css'), 'utf8');
