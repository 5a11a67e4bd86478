import type { Settings } from '../../../core/settings.ts';

export type Purpose = 'sign_in' | 'password';

/** A course user or an admin user. */
export type TokenOwner = { providerId: number; userId: number | null; adminUserId: number | null };

export const lifetimes: Record<Purpose, string> = { sign_in: '15 minutes', password: '7 days' };

export const tokenUrl = ({ publicUrl }: Pick<Settings, 'publicUrl'>, purpose: Purpose, token: string) =>
  `${publicUrl}/my/${purpose === 'sign_in' ? 'sign-in' : 'password'}/${token}`;
