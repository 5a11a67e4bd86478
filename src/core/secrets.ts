import { createHmac, hash, randomBytes } from 'node:crypto';

/** 256 random bits as base64url. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** A secret that begins with its provider's id, so that the look-up names the provider. */
export const newProviderSecret = (providerId: number) => `${providerId}_${newSecret()}`;

/** Derives a secret in the form of `newProviderSecret`, equal for an equal key and secret. */
export const deriveProviderSecret = (secret: string, providerId: number, purpose: string, key: string) =>
  `${providerId}_${createHmac('sha256', secret).update(`${purpose}\n${providerId}\n${key}`).digest('base64url')}`;

/** The provider's id in a secret; 0, which no provider has, if the text has another form. */
export const parseProviderId = (secret: string) => Number(/^(\d{1,15})_[\w-]{43}$/.exec(secret)?.[1] ?? 0);

/** The stored form of a secret. Unsalted SHA-256 is enough for 256 random bits. */
export const hashSecret = (secret: string) => hash('sha256', secret);
