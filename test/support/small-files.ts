import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Prints each file of src under 40 lines that one other file imports, with that file and the lines of both. */
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
const texts = new Map(files.map((file) => [file, readFileSync(join('src', file), 'utf8')]));
const countLines = (file: string) => texts.get(file)!.split('\n').length - 1;

const importers = new Map(files.map((file) => [file, new Set<string>()]));
for (const [file, text] of texts)
  for (const [, to] of text.matchAll(/(?:from|import\() ?'(\..+?)'/g))
    importers.get(normalize(join(dirname(file), to!)))?.add(file);

for (const [file, [importer, ...others]] of [...importers].sort(([a], [b]) => (a < b ? -1 : 1)))
  if (importer !== undefined && others.length === 0 && countLines(file) < 40)
    console.log(`${countLines(file)} ${file} < ${importer} ${countLines(importer)}`);
