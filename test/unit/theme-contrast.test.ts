import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast, toThemeStyle } from '../../src/plugins/pages/catalog/theme.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

/** The variables that a theme sets in a scheme. */
function readVariables(style: string, scheme: 'light' | 'dark') {
  const [, rule = ''] = new RegExp(`\\(prefers-color-scheme: ${scheme}\\) \\{ :root \\{([^}]*)\\}`).exec(style) ?? [];
  return readColors(rule);
}

const [light = '', dark = ''] = readFileSync('src/http/palette.css', 'utf8').split('@media');
const readColors = (style: string) =>
  Object.fromEntries(
    [...style.matchAll(/--([\w-]+): (#[0-9a-f]{6}|transparent)/g)].map(([, name, value]) => [name!, value!]),
  );
const palette = { light: readColors(light), dark: readColors(dark) };

test('texts have a contrast of at least 4.5:1 with each colour of a school', () => {
  fc.assert(
    fc.property(fc.option(color, { nil: null }), fc.option(color, { nil: null }), (accent, background) => {
      const style = toThemeStyle({ ...(accent && { accent }), ...(background && { background }) });
      for (const scheme of ['light', 'dark'] as const) {
        const colors = { ...palette[scheme], ...readVariables(style, scheme) };
        const texts = ['ink', 'soft', 'link', 'good', 'wait', 'bad'];
        const pairs = texts.flatMap((text) => ['page', 'card', `${text}-back`].map((on) => [text, on]));
        pairs.push(['link', 'bad-back']);
        for (const [text, on] of [...pairs, ['on-fill', 'fill']]) {
          if ([undefined, 'transparent'].includes(colors[on!])) continue;
          const ratio = contrast(colors[text!]!, colors[on!]!);
          if (ratio < 4.5) throw new Error(`${scheme}: ${text} ${colors[text!]} on ${on} ${colors[on!]} has ${ratio}`);
        }
      }
    }),
    { numRuns: 2_000 },
  );
  expect(readVariables(toThemeStyle({ accent: '#ffee00' }), 'light')['fill']).toBe('#ffee00');
});
