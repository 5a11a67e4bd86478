import type { Settings } from '../../core/context.ts';

/** What a link is for. */
export type Purpose = 'sign_in' | 'password';

/** Whose link it is: a course user's or an admin user's. */
export type TokenOwner = { providerId: number; userId: number | null; adminUserId: number | null };

/** How long it works, by the database's clock. */
export const lifetimes: Record<Purpose, string> = { sign_in: '15 minutes', password: '7 days' };

/** Where the link leads to. */
export const linkTo = ({ publicUrl }: Pick<Settings, 'publicUrl'>, purpose: Purpose, token: string) =>
  `${publicUrl}/my/${purpose === 'sign_in' ? 'sign-in' : 'password'}/${token}`;
