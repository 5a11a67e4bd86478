/** Profiles of API keys: everything, reading, booking, or the public catalog on web pages. */
export const keyProfiles = ['full', 'read', 'booking', 'publishable'] as const;
export type KeyProfile = (typeof keyProfiles)[number];
