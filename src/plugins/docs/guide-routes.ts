import helmet from '@fastify/helmet';
import type { FastifyPluginAsync } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { compressOnce, sendContent, type CompressedContent } from '../../http/compression/static-content.ts';
import { assetPath, guideStyle, serveAsset } from './assets.ts';
import { guideScript } from './guide-script.ts';
import { loadGuides, type Guides } from './guides.ts';
import { renderLlmsTxt } from './llms.ts';
import { renderGuidePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';

type GuideOptions = { publicUrl: string; basePath: string };

const headers = (subtype: string) => ({ type: `text/${subtype}; charset=utf-8`, cacheControl: 'public, max-age=300' });

/** The pages of docs/ at /docs/guides, as HTML and as Markdown, and /llms.txt, their list. */
export const guideRoutes: FastifyPluginAsync<GuideOptions> = async (app, { publicUrl, basePath }) => {
  const directives = { scriptSrc: ["'self'"], connectSrc: ["'self'"], styleSrc: ["'self'"] };
  await app.register(helmet, securityHeaders(publicUrl, directives));
  const { findFile, findLlmsTxt, findSearchIndex } = cacheContents(basePath, publicUrl);

  app.get('/docs/guides', async (request, reply) =>
    sendContent(request, reply, await findFile('README'), headers('html')),
  );
  app.get<{ Params: { file: string } }>('/docs/guides/:file', async (request, reply) => {
    const { file } = request.params;
    return sendContent(request, reply, await findFile(file), headers(file.endsWith('.md') ? 'markdown' : 'html'));
  });
  app.get('/llms.txt', async (request, reply) => sendContent(request, reply, await findLlmsTxt(), headers('plain')));
  app.get('/docs/guides/search.json', async (request, reply) =>
    sendContent(request, reply, await findSearchIndex(), {
      type: 'application/json; charset=utf-8',
      cacheControl: 'public, max-age=300',
    }),
  );
  for (const asset of [guideStyle, guideScript]) serveAsset(app, asset);
};

/** Renders each file at its first request. Without docs/ every file is 404. */
function cacheContents(basePath: string, publicUrl: string) {
  let loading: Promise<Guides | undefined> | undefined;
  let llmsTxt: CompressedContent | undefined;
  let searchIndex: CompressedContent | undefined;
  const files = new Map<string, CompressedContent>();

  async function getGuides() {
    const guides = await (loading ??= loadGuides(`${basePath}/docs/guides`));
    if (!guides) throw notFound();
    return guides;
  }

  function renderFile(guides: Guides, file: string) {
    const name = file.replace(/\.md$/, '');
    if (!guides.names.has(name)) throw notFound();
    if (file.endsWith('.md')) return guides.readMarkdown(name);
    const [style, script] = [guideStyle, guideScript].map((asset) => basePath + assetPath(asset)) as [string, string];
    return renderGuidePage({
      basePath,
      style,
      scripts: [script],
      name,
      guide: guides.render(name),
      groups: guides.groups,
    });
  }

  async function findFile(file: string) {
    const guides = await getGuides();
    const content = files.get(file) ?? compressOnce(renderFile(guides, file));
    files.set(file, content);
    return content;
  }

  async function findLlmsTxt() {
    const guides = await getGuides();
    return (llmsTxt ??= compressOnce(renderLlmsTxt(guides, publicUrl)));
  }

  async function findSearchIndex() {
    const guides = await getGuides();
    return (searchIndex ??= compressOnce(JSON.stringify(guides.readSections())));
  }

  return { findFile, findLlmsTxt, findSearchIndex };
}

const notFound = () => new Problem('not_found', 'There is nothing at this path');
