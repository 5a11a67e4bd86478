import type { Language } from '../../core/reference/language.ts';
import en from './texts/en.json' with { type: 'json' };
import no from './texts/no.json' with { type: 'json' };

/** All texts of the pages in one language. */
export type Texts = typeof en;

export const texts: Record<Language, Texts> = { en, no };
