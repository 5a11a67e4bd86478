import { Type, type TObject } from '@sinclair/typebox';
import { getTypes } from '../core/schema/coercion.ts';
import { named, OneOf } from '../core/schema/types.ts';
import { filter } from './filters.ts';

/** How the items of a list become the rows of a CSV file; the columns follow from the schema of the items. */
export type Spreadsheet = {
  /** The member whose list has a row for each of its items, beside the columns of the whole. */
  rows?: string;
  /** Paths of embedded objects that have columns for their `id` and `title` alone. */
  brief?: readonly string[];
};

export const spreadsheetParameters = {
  format: filter.parameter({
    ...named('ListFormat', OneOf(['json', 'csv'])),
    description:
      'csv: as a spreadsheet, with all items unless `limit` or `page` is sent; what `Accept` names unless sent',
  }),
  delimiter: filter.parameter({
    ...named('CsvDelimiter', OneOf(['comma', 'semicolon'])),
    description: 'What separates the columns of a spreadsheet; a comma unless sent, a semicolon with `spreadsheet`',
  }),
  spreadsheet: filter.parameter(
    Type.Boolean({
      description:
        'true: CSV is for Excel, with decimal commas, and texts that have a digit as `="0150"`; false unless sent',
    }),
  ),
};

type Cells = unknown[];
type Item = Record<string, unknown>;

/** The columns of items with these includes, and a function from an item to its rows. */
export function defineColumns(schema: TObject, { rows, brief = [] }: Spreadsheet, includes: readonly string[]) {
  const isIncluded = (path: string) => includes.some((name) => name === path || name.startsWith(`${path}.`));

  function findPaths({ properties, required = [] }: TObject, parents: string[]): string[][] {
    const isBrief = brief.includes(parents.join('.'));
    return Object.entries(properties).flatMap(([name, member]) => {
      const path = [...parents, name];
      const isShown = required.includes(name) || isIncluded(path.join('.'));
      if (!isShown || (isBrief && name !== 'id' && name !== 'title')) return [];
      const types = getTypes(member);
      if (types.includes('array')) return path.join() === rows ? findPaths(member['items'] as TObject, path) : [];
      return 'properties' in member ? findPaths(member as TObject, path) : [path];
    });
  }
  const paths = findPaths(schema, []);
  const toCells = (item: Item): Cells => paths.map((path) => getMember(item, path));
  return {
    names: paths.map((path) => path.join('.')),
    toRows(item: Item): Cells[] {
      if (rows === undefined) return [toCells(item)];
      const all = item[rows] as Item[];
      return all.length === 0
        ? [toCells({ ...item, [rows]: null })]
        : all.map((one) => toCells({ ...item, [rows]: one }));
    },
  };
}

/** Undefined below null. */
function getMember(item: Item, path: string[]): unknown {
  let value: unknown = item;
  for (const name of path) value = (value as Item | null | undefined)?.[name];
  return value;
}
