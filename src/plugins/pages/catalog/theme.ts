import { compressOnce, type CompressedContent } from '../../../http/compression/static-content.ts';
import type { CatalogTheme } from '../../../database/tables/providers.ts';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

type Theme = Partial<CatalogTheme>;
type Rgb = [number, number, number];

const fonts: Record<CatalogTheme['font'], string | undefined> = {
  sans: undefined,
  serif: "Georgia, Cambria, 'Times New Roman', serif",
  mono: "ui-monospace, 'SF Mono', Menlo, Consolas, monospace",
};

const mapRgb = ([r, g, b]: Rgb, map: (value: number, n: 0 | 1 | 2) => number): Rgb => [map(r, 0), map(g, 1), map(b, 2)];
const toRgb = (color: string) => mapRgb([1, 3, 5], (at) => parseInt(color.slice(at, at + 2), 16));
const toHex = (rgb: Rgb) => `#${rgb.map((one) => Math.round(one).toString(16).padStart(2, '0')).join('')}`;

/** Relative luminance and contrast of WCAG 2.2. */
function luminance(rgb: Rgb) {
  const [r, g, b] = mapRgb(rgb, (value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
export function contrast(one: string, other: string) {
  const both = [luminance(toRgb(one)), luminance(toRgb(other))];
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}

const mix = (color: string, other: string, share: number) =>
  toHex(mapRgb(toRgb(color), (value, n) => value + (toRgb(other)[n] - value) * share));

const textContrast = 4.5;
const [black, white] = ['#000000', '#ffffff'];

/** The colour, mixed with black or white until it is readable as text on each background. */
function readableOn(color: string, backgrounds: string[]) {
  const isReadable = (one: string) => backgrounds.every((background) => contrast(one, background) >= textContrast);
  for (let share = 0; share <= 1; share += 0.05) {
    for (const towards of [black, white]) {
      const mixed = mix(color, towards, share);
      if (isReadable(mixed)) return mixed;
    }
  }
  return isReadable(black) ? black : white;
}

/** Black or white, with a contrast of at least 4.5:1. */
const textOn = (color: string) => (contrast(color, white) >= textContrast ? white : black);

const cards = { light: '#ffffff', dark: '#1f252a' };
const pages = { light: '#f6f5f2', dark: '#15191d' };
/** Colors of states in the light scheme, and the background of errors, which have links. */
const states = { good: '#1f6a3a', wait: '#7a4a00', bad: '#a3231c' };
const errorBackground = '#fce8e6';

/** Background of boxes, further from the colour of the text than that of the page. */
const toCard = (background: string) => mix(background, textOn(background) === black ? white : black, 0.6);

/** Style sheet of a school's colours and font. A background applies to the light scheme, with dark text or light. */
export function toThemeStyle({ accent, background, font = 'sans' }: Theme) {
  const light: string[] = [];
  const dark: string[] = [];
  if (background) {
    const ink = textOn(background);
    const card = toCard(background);
    light.push(
      `--page: ${background}`,
      `--card: ${card}`,
      `--ink: ${ink === black ? readableOn('#1d2328', [background, card]) : white}`,
      `--soft: ${readableOn('#515a62', [background, card])}`,
      `--line: ${mix(background, ink, 0.15)}`,
      `--link: ${readableOn('#0b5a8a', [background, card])}`,
      ...Object.entries(states).map(
        ([name, color]) => `--${name}: ${readableOn(color, [background, card])}; --${name}-back: transparent`,
      ),
    );
  }
  if (accent) {
    const backgrounds = background ? [background, toCard(background)] : [pages.light, cards.light, errorBackground];
    light.push(`--fill: ${accent}`, `--on-fill: ${textOn(accent)}`, `--link: ${readableOn(accent, backgrounds)}`);
    const lit = readableOn(accent, [pages.dark, cards.dark]);
    dark.push(`--fill: ${lit}`, `--on-fill: ${textOn(lit)}`, `--link: ${lit}`);
  }
  const rule = (declarations: string[]) => `:root { ${declarations.join('; ')}; }\n`;
  return [
    light.length > 0 ? `@media screen and (prefers-color-scheme: light) { ${rule(light)} }\n` : '',
    dark.length > 0 ? `@media screen and (prefers-color-scheme: dark) { ${rule(dark)} }\n` : '',
    fonts[font] === undefined ? '' : `body { font-family: ${fonts[font]}; }\n`,
  ].join('');
}

const themes = new LRUCache<string, { name: string; content: CompressedContent }>({ max: 1_000 });

/** The style sheet of a theme. Its name contains a hash, so that browsers can cache it for a year. */
export function getTheme(theme: Theme) {
  const key = JSON.stringify(theme);
  const known = themes.get(key);
  if (known) return known;
  const style = toThemeStyle(theme);
  const created = { name: `theme-${hash('sha256', style).slice(0, 12)}.css`, content: compressOnce(style) };
  themes.set(key, created);
  return created;
}
