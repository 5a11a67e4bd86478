import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { compressOnce, sendContent, type CompressedContent } from './compression/static-content.ts';

/** A style sheet or script. Its name contains a hash or a version, so that browsers can cache it for a year. */
export type Asset = { name: string; content: CompressedContent };

const types: Record<string, string> = { '.css': 'text/css; charset=utf-8', '.js': 'text/javascript; charset=utf-8' };

/** Colours for style sheets, light and dark by preference; every pair has a contrast of at least 4.5:1. */
export const palette = readFileSync(join(import.meta.dirname, 'palette.css'), 'utf8');

export function toAsset(name: string, extension: 'css' | 'js', text: string): Asset {
  return { name: `${name}-${hash('sha256', text).slice(0, 12)}.${extension}`, content: compressOnce(text.trimStart()) };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on routes that the host names of catalogs have, too. */
    isOnEveryHost?: true;
  }
}

export function serveAsset(app: FastifyInstance, path: string, { name, content }: Asset) {
  const headers = { type: types[extname(name)]!, cacheControl: 'public, max-age=31536000, immutable' };
  app.get(`${path}/${name}`, { config: { isOnEveryHost: true } }, (request, reply) =>
    sendContent(request, reply.header('vary', 'Accept-Encoding'), content, headers),
  );
}
