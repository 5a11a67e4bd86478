import { expect, test } from 'vitest';
import { dereference, findInlineObjects } from '../../support/openapi.ts';
import { send, sharedTestApp } from '../../support/test-app.ts';

const { app } = await sharedTestApp();
const document = app.swagger();

test('every object of a request or a response is a component', () => {
  expect(findInlineObjects(document)).toEqual([]);
});

test('an object that is not a component is found', () => {
  const inline = { type: 'object', properties: { id: { type: 'integer' } } };
  const list = { type: ['array', 'null'], items: inline };
  const schemas = { Pet: inline, Owner: { type: 'object', properties: { pets: list, properties: inline } } };
  expect(findInlineObjects({ components: { schemas } })).toEqual([
    'components/schemas/Owner/properties/pets/items',
    'components/schemas/Owner/properties/properties',
  ]);
});

type Parameters = { parameters?: { $ref?: string }[] };

test('every parameter that several operations have is a component, named apart from schemas', () => {
  const { paths, components } = document as unknown as {
    paths: Record<string, Record<string, Parameters>>;
    components: { parameters: Record<string, object>; schemas: object };
  };
  const used = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap(({ parameters = [] }) => parameters.map((one) => one.$ref ?? one)),
  );
  const inline = used.filter((one) => typeof one !== 'string').map((one) => JSON.stringify(one));
  expect(inline.filter((one, n) => inline.indexOf(one) !== n)).toEqual([]);
  const names = Object.keys(components.parameters);
  for (const name of names)
    expect(used.filter((one) => one === `#/components/parameters/${name}`).length, name).toBeGreaterThan(1);
  expect(names.filter((name) => name in components.schemas)).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(['CreatedAtMin', 'IdempotencyKey', 'IdOfCourse', 'OrderIncludeList']));
});

type Schema = { enum?: string[]; properties?: Record<string, Schema>; items?: Schema };
type Response = { content?: Record<string, { schema: Schema }> };

const findCodes = ({ properties = {}, items }: Schema): Schema[] => [
  ...Object.entries(properties).flatMap(([name, member]) => (name === 'code' ? member : findCodes(member))),
  ...(items ? findCodes(items) : []),
];

test('every code of an error is one of a closed list', () => {
  const { paths } = dereference<{ paths: Record<string, Record<string, { responses: Record<string, Response> }>> }>(
    document,
  );
  const codes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.entries(responses)
        .filter(([status]) => /^[45]/.test(status))
        .flatMap(([status, { content = {} }]) =>
          Object.values(content)
            .flatMap(({ schema }) => findCodes(schema))
            .map((code) => ({ name: `${method} ${path} ${status}`, isListed: (code.enum ?? []).length > 0 })),
        ),
    ),
  );
  expect(codes.length).toBeGreaterThan(0);
  expect(codes.filter(({ isListed }) => !isListed)).toEqual([]);
});

test('the served document is smaller than 600,000 bytes', async () => {
  expect((await send(app, { url: '/openapi.json' })).text.length).toBeLessThan(600_000);
});
