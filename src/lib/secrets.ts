import { hash, randomBytes } from 'node:crypto';

/** 256 random bits as base64url. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** A secret that names its provider, so that its row is found without asking for all providers. */
export const newProviderSecret = (providerId: number) => `${providerId}_${newSecret()}`;

/** The provider that a secret names; undefined for one of version 0.2, which names none. */
export function providerOfSecret(secret: string) {
  const [, providerId] = /^(\d{1,15})_[\w-]{43}$/.exec(secret) ?? [];
  return providerId === undefined ? undefined : Number(providerId);
}

/** The stored form of a secret. Unsalted SHA-256 is enough for 256 random bits. */
export const hashSecret = (secret: string) => hash('sha256', secret);
