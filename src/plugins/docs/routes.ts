import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import helmet from '@fastify/helmet';
import { limitByAddress } from '../../http/auth/address-limit.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import { methodNotAllowed } from '../../http/errors/method-not-allowed.ts';
import type { Plugin } from '../../interfaces/plugin/define-plugin.ts';
import { toBasePath } from '../../core/settings.ts';
import { guideRoutes } from './guide-routes.ts';
import { serveOpenapi } from '../../http/openapi/document.ts';
import { addParameterExamples } from '../../http/openapi/examples.ts';
import { serveAsset, type Asset } from '../../http/assets.ts';
import { compressOnce, sendContent, loadOnce } from '../../http/compression/static-content.ts';
import { guideStyle, referenceScript, referenceStyle } from './assets.ts';
import { renderMissingReferencePage, renderReferencePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';
import { projectRoot } from '../../core/project-root.ts';

/** Serves the API reference at /docs, to which / leads, the guides at /docs/guides, /llms.txt, and the workflows. */
export const docsRoutes: FastifyPluginAsync<Services & { plugins: readonly Plugin[] }> = async (
  app,
  { settings: { publicUrl }, countRequest, plugins },
) => {
  const pages = new Set(plugins.flatMap(({ docs }) => docs.pages));
  const basePath = toBasePath(publicUrl);
  app.addHook('preParsing', limitByAddress(countRequest));
  hideRoutes(app);
  app.get('/', (_request, reply) => reply.redirect(`${basePath}/docs`));
  const addMethodNotAllowed = methodNotAllowed(app);
  for (const path of ['/docs/json', '/docs/yaml'])
    app.get(path, (_request, reply) => reply.redirect(`${basePath}/openapi.json`, 308));
  await app.register(referenceRoutes, { publicUrl, basePath, bundle: findReferenceBundle() });
  await app.register(guideRoutes, { publicUrl, basePath, pages });
  addMethodNotAllowed();
};

function hideRoutes(app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}

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

/** Scalar's browser bundle, which the build compresses; undefined without a build. */
export function findReferenceBundle(folder = join(projectRoot, 'dist/browser')): Asset | undefined {
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest)) return undefined;
  const { reference: name } = JSON.parse(readFileSync(manifest, 'utf8')) as { reference: string };
  const path = join(folder, name);
  return {
    name,
    content: {
      etag: `"${name}"`,
      encodings: ['br', 'gzip'],
      load: loadOnce(async (encoding) => {
        if (encoding === 'br') return readFile(`${path}.br`);
        const compressed = await readFile(`${path}.gz`);
        return encoding === 'gzip' ? compressed : promisify(gunzip)(compressed);
      }),
    },
  };
}
