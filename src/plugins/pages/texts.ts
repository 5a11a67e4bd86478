import type { Language } from '../../core/reference/language.ts';
import en from './texts/en.json' with { type: 'json' };
import no from './texts/no.json' with { type: 'json' };

/** All texts of the personal pages in one language. */
export type Texts = typeof en;

export const texts: Record<Language, Texts> = { en, no };

/** The text with the value in the place of `{}`. */
export const fill = (text: string, value: string | number) => text.replace('{}', () => String(value));

export const fillCount = ({ one, other }: { one: string; other: string }, count: number) =>
  fill(count === 1 ? one : other, count);
