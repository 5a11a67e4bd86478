import { hash, randomBytes } from 'node:crypto';

/** 256 random bits, as text that fits a link or a cookie. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** What is stored of one. Plain SHA-256: with 256 random bits there is nothing to guess. */
export const hashSecret = (secret: string) => hash('sha256', secret);
