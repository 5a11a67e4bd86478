import { contentTypes, encodeBody } from './request-bodies.ts';

const deep = (levels: number): unknown => (levels === 0 ? 'x' : { a: deep(levels - 1) });
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'x']));
const nested = (count: number) => `title=A&a${'[b]'.repeat(count)}=1`;

/** Bodies of a course that cost much to parse or to validate if they are not rejected early: name, type and body. */
export const costlyBodies: [name: string, type: string, body: string][] = [
  ['a form 8 deep', contentTypes.form, nested(8)],
  ['a form 100,000 deep', contentTypes.form, nested(100_000)],
  ['tags 300,000 deep', contentTypes.form, `title=A&tags=${'['.repeat(300_000)}`],
  ['tags 300 deep', contentTypes.form, `title=A&tags=${'['.repeat(300)}1${']'.repeat(300)}`],
  ['a multipart 8 deep', contentTypes.multipart, encodeBody('multipart', { title: 'A', a: deep(8) })],
  ['JSON 8 deep', contentTypes.json, encodeBody('json', { title: 'A', a: deep(8) })],
  ['JSON 200,000 deep', contentTypes.json, `{"title":"A","tags":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
  ['a form of 20,000 fields', contentTypes.form, encodeBody('form', { title: 'A', ...many(20_000) })],
  ['a multipart of 9,000 fields', contentTypes.multipart, encodeBody('multipart', { title: 'A', ...many(9_000) })],
  ['a form of 5,000 tags', contentTypes.form, `title=A${'&tags[]=1'.repeat(5_000)}`],
  ['JSON of 200,000 tags', contentTypes.json, `{"title":"A","tags":[${'[],'.repeat(200_000)}1]}`],
  ['a form of 90,000 bad tags as JSON', contentTypes.form, `title=A&tags=[${'"x",'.repeat(90_000)}1]`],
];
