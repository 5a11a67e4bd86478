import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import { Problem } from '../../core/errors.ts';
import { projectRoot } from '../../core/project.ts';
import { toBasePath } from '../../core/settings.ts';
import { serveAsset, type Asset, palette, toAsset } from '../../http/assets.ts';
import { limitByAddress } from '../../http/auth/address-limit.ts';
import type { Services } from '../../http/auth/authenticate.ts';
import { compressOnce, sendContent, loadOnce, type CompressedContent } from '../../http/compression/static-content.ts';
import { methodNotAllowed } from '../../http/errors/method-not-allowed.ts';
import { serveOpenapi } from '../../http/openapi/document.ts';
import { addParameterExamples } from '../../http/openapi/examples.ts';
import type { Plugin } from '../../interfaces/plugin/define-plugin.ts';
import { loadGuides, type Guides, type Guide } from './guides.ts';
import { renderMissingReferencePage, renderReferencePage, renderGuidePage } from './pages.tsx';

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

/** `pages` are the names of those that are served. */
type GuideOptions = { publicUrl: string; basePath: string; pages: ReadonlySet<string> };
type Content = { type: string; name: string; render: (guides: Guides) => string };

/** Serves docs/ at /docs/guides, as HTML and Markdown, with /llms.txt and the workflows; 404 without docs/. */
const guideRoutes: FastifyPluginAsync<GuideOptions> = async (app, { publicUrl, basePath, pages }) => {
  const directives = { scriptSrc: ["'self'"], connectSrc: ["'self'"], styleSrc: ["'self'"] };
  await app.register(helmet, securityHeaders(publicUrl, directives));
  const [style, script] = [guideStyle, guideScript].map(({ name }) => `${basePath}/docs/${name}`) as [string, string];
  let loading: Promise<Guides | undefined> | undefined;
  const contents = new Map<string, CompressedContent>();

  /** Renders each content at its first request. */
  async function send(request: FastifyRequest, reply: FastifyReply, { type, name, render }: Content) {
    const guides = await (loading ??= loadGuides(`${basePath}/docs/guides`, pages));
    if (!guides) throw notFound();
    const content = contents.get(name) ?? compressOnce(render(guides));
    contents.set(name, content);
    return sendContent(request, reply, content, {
      type: `${type}; charset=utf-8`,
      cacheControl: 'public, max-age=300',
    });
  }

  function sendFile(request: FastifyRequest, reply: FastifyReply, file: string) {
    const name = file.replace(/\.md$/, '');
    const isMarkdown = name !== file;
    const render = (guides: Guides) => {
      const { names, groups } = guides;
      if (!names.has(name)) throw notFound();
      if (isMarkdown) return guides.readMarkdown(name);
      return renderGuidePage({ basePath, style, scripts: [script], name, guide: guides.render(name), groups });
    };
    return send(request, reply, { type: isMarkdown ? 'text/markdown' : 'text/html', name: `guides/${file}`, render });
  }

  app.get('/docs/guides', (request, reply) => sendFile(request, reply, 'README'));
  app.get<{ Params: { file: string } }>('/docs/guides/:file', (request, reply) =>
    sendFile(request, reply, request.params.file),
  );
  app.get('/llms.txt', (request, reply) =>
    send(request, reply, {
      type: 'text/plain',
      name: 'llms.txt',
      render: (guides) => renderLlmsTxt(guides, publicUrl),
    }),
  );
  app.get('/workflows.arazzo.yaml', (request, reply) =>
    send(request, reply, {
      type: 'application/yaml',
      name: 'workflows',
      render: () => readFileSync(join(projectRoot, 'docs/api/workflows.arazzo.yaml'), 'utf8'),
    }),
  );
  app.get('/docs/guides/search.json', (request, reply) =>
    send(request, reply, {
      type: 'application/json',
      name: 'search.json',
      render: (guides) => JSON.stringify(guides.readSections()),
    }),
  );
  for (const asset of [guideStyle, guideScript]) serveAsset(app, '/docs', asset);
};

const notFound = () => new Problem('not_found', 'There is nothing at this path');

/** The list of the guides for language models, as https://llmstxt.org describes it. */
function renderLlmsTxt({ groups }: Guides, publicUrl: string): string {
  const toLine = ({ name, title, summary }: Guide) =>
    `- [${title}](${publicUrl}/docs/guides/${name}.md)${summary ? `: ${summary}` : ''}`;
  const sections = groups.map(({ title, guides }) =>
    [`## ${title}`, '', ...guides.flatMap((guide) => [guide, ...guide.children]).map(toLine)].join('\n'),
  );
  return `# Course Booking Service

> An HTTP API for course providers: courses, dates, bookings, orders, customers and participants. Every request carries
> the API key in the header \`X-API-Key\`.

## API description

- [OpenAPI document](${publicUrl}/openapi.json): every operation with its parameters, bodies and responses
- [Workflows](${publicUrl}/workflows.arazzo.yaml): sequences of operations as an Arazzo document
- [API reference](${publicUrl}/docs): the same as a page

${sections.join('\n\n')}
`;
}

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const style = (file: string) => [palette, read('bar.css'), read(file)].join('\n');

const guideStyle = toAsset('guides', 'css', style('guides.css'));
const referenceStyle = toAsset('reference', 'css', style('reference.css'));

/** Adds copy buttons, and a search over the index of the guides, which is loaded when the field gets the focus. */
const guideScript = toAsset('guides', 'js', read('guides.js'));

/** Configures Scalar. The script's own URL contains the base path, below which the document lies. */
const referenceScript = toAsset('reference', 'js', read('reference.js'));

/** Options of helmet: no resources of other hosts; `directives` adds page-specific sources. */
function securityHeaders(publicUrl: string, directives: Record<string, string[]>): FastifyHelmetOptions {
  const isHttps = publicUrl.startsWith('https:');
  return {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        // An empty icon, so that browsers request no /favicon.ico.
        imgSrc: ["'self'", 'data:'],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        ...directives,
      },
    },
    // Over plain HTTP, browsers ignore both and report an error.
    crossOriginOpenerPolicy: isHttps,
    originAgentCluster: isHttps,
    referrerPolicy: { policy: 'no-referrer' },
    // Set for every response.
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  };
}
