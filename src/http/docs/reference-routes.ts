import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { compressOnce, sendContent } from '../compressed-content.ts';
import { referenceScript, referenceStyle } from './assets.ts';
import { findReferenceBundle } from './reference-bundle.ts';
import { renderReferencePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';

const immutable = 'public, max-age=31536000, immutable';

type ReferenceOptions = { publicUrl: string; basePath: string };

/** The API reference: Scalar's browser bundle with its configuration in a script of its own. */
export const referenceRoutes: FastifyPluginAsync<ReferenceOptions> = async (app, { publicUrl, basePath }) => {
  const scriptsAndRequests = {
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    // The bundle inserts style elements and attributes.
    styleSrc: ["'self'", "'unsafe-inline'"],
    fontSrc: ['data:'],
  };
  await app.register(helmet, securityHeaders(publicUrl, scriptsAndRequests));
  const bundle = findReferenceBundle();
  const scripts = [...(bundle ? [bundle.name] : []), referenceScript.name].map((name) => `${basePath}/docs/${name}`);
  const page = compressOnce(
    renderReferencePage({ basePath, scripts, style: `${basePath}/docs/${referenceStyle.name}` }),
  );
  app.get('/docs', (request, reply) =>
    sendContent(request, reply, page, { type: 'text/html; charset=utf-8', cacheControl: 'no-cache' }),
  );
  for (const { name, type, text } of [referenceScript, referenceStyle]) {
    const content = compressOnce(text);
    app.get(`/docs/${name}`, (request, reply) =>
      sendContent(request, reply, content, { type, cacheControl: immutable }),
    );
  }
  if (bundle)
    app.get(`/docs/${bundle.name}`, (request, reply) =>
      sendContent(request, reply, bundle, { type: referenceScript.type, cacheControl: immutable }),
    );
};
