import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import helmet from '@fastify/helmet';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { projectRoot } from '../../core/project-root.ts';
import { serveAsset } from '../../http/assets.ts';
import { compressOnce, sendContent, type CompressedContent } from '../../http/compression/static-content.ts';
import { guideScript, guideStyle } from './assets.ts';
import { loadGuides, type Guides, type Guide } from './guides.ts';
import { renderGuidePage } from './pages.tsx';
import { securityHeaders } from './security-headers.ts';

/** `pages` are the names of those that are served. */
type GuideOptions = { publicUrl: string; basePath: string; pages: ReadonlySet<string> };
type Content = { type: string; name: string; render: (guides: Guides) => string };

/**
 * The pages of docs/ at /docs/guides, as HTML and as Markdown, /llms.txt, their list, and the workflows. Without docs/
 * all are 404.
 */
export const guideRoutes: FastifyPluginAsync<GuideOptions> = async (app, { publicUrl, basePath, pages }) => {
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
