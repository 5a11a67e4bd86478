import { hash, randomBytes } from 'node:crypto';

/** 256 random bits as base64url. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** The stored form of a secret. Unsalted SHA-256 is enough for 256 random bits. */
export const hashSecret = (secret: string) => hash('sha256', secret);
