import { crc32 } from 'node:zlib';
import { hashSecret, newSecret } from './secrets.ts';

/** Profiles of API keys: everything, reading, booking, or the public catalog on web pages. */
export const keyProfiles = ['full', 'read', 'booking', 'publishable'] as const;
export type KeyProfile = (typeof keyProfiles)[number];

const prefix = 'cbs_';
const pattern = /^cbs_[A-Za-z0-9_-]{43}[0-9a-f]{8}$/;

/** Generates a key: a prefix that secret scanners recognise, 256 random bits and a CRC-32 of both. */
export function newApiKey() {
  const secret = prefix + newSecret();
  return secret + checksum(secret);
}

/** The stored form of a key. */
export const hashApiKey = hashSecret;

/** False for a mistyped key, which then costs no query. Keys chosen by operators have no prefix. */
export function mayBeApiKey(text: string) {
  if (text.startsWith(prefix)) return pattern.test(text) && checksum(text.slice(0, -8)) === text.slice(-8);
  return text.length >= 32 && text.length <= 255;
}

const checksum = (text: string) => crc32(text).toString(16).padStart(8, '0');
