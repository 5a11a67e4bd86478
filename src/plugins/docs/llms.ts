import type { Guide, Guides } from './guides.ts';

/** The list of the guides for language models, as https://llmstxt.org describes it. */
export function renderLlmsTxt({ groups }: Guides, publicUrl: string): string {
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
