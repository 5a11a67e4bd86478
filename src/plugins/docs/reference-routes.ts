import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { serveOpenapi } from '../../http/openapi/document.ts';
import { addParameterExamples } from '../../http/openapi/examples.ts';
import { serveAsset, type Asset } from '../../http/assets.ts';
import { compressOnce, sendContent } from '../../http/compression/static-content.ts';
import { guideStyle, referenceScript, referenceStyle } from './assets.ts';
import { renderMissingReferencePage, renderReferencePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';

type ReferenceOptions = { publicUrl: string; basePath: string; bundle: Asset | undefined };

/** The API reference: Scalar's browser bundle, and a script that configures it. */
export const referenceRoutes: FastifyPluginAsync<ReferenceOptions> = async (app, { publicUrl, basePath, bundle }) => {
  const directives = {
    scriptSrc: ["'self'"],
    connectSrc: ["'self'"],
    // The bundle inserts style elements and attributes.
    styleSrc: ["'self'", "'unsafe-inline'"],
    fontSrc: ['data:'],
  };
  await app.register(helmet, securityHeaders(publicUrl, directives));
  const toUrl = ({ name }: Asset) => `${basePath}/docs/${name}`;
  const html = bundle
    ? renderReferencePage({ basePath, style: toUrl(referenceStyle), scripts: [bundle, referenceScript].map(toUrl) })
    : renderMissingReferencePage({ basePath, style: toUrl(guideStyle) });
  const page = compressOnce(html);
  app.get('/docs', (request, reply) =>
    sendContent(request, reply, page, { type: 'text/html; charset=utf-8', cacheControl: 'no-cache' }),
  );
  app.get(
    '/docs/openapi.json',
    // The page would send the examples of optional parameters at once.
    serveOpenapi(app, (document) => addParameterExamples(document, { onlyRequired: true })),
  );
  for (const asset of [referenceStyle, referenceScript, bundle]) if (asset) serveAsset(app, '/docs', asset);
};
