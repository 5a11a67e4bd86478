import type { Language } from '../../../core/reference/language.ts';
import { en, type LetterTexts } from './messages/en.ts';
import { no } from './messages/no.ts';

export type { LetterTexts };

export const letterTexts: Record<Language, LetterTexts> = { en, no };
