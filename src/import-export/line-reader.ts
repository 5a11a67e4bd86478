import type { TSchema } from '@sinclair/typebox';
import { fieldsChecker } from '../schema/validator.ts';
import type { Settings } from '../core/context.ts';
import { Problem } from '../core/errors.ts';
import { listTimeZones } from '../database/time-zones.ts';
import type { Database } from '../database/client.ts';
import { expectedOf } from './expected-formats.ts';
import { isBulk, lineSchema, rowsOf, type ImportContext, type Fields, type RecordType } from './record-type.ts';
import { kinds } from './record-types/index.ts';
import type { Line } from './lines.ts';
import type { BadLine, StagedLine } from './staging.ts';

/** A line as it waits, why it is bad, or both: a bad line holds its place. */
type Reading = { staged?: StagedLine; bad?: BadLine };

const kindsByName = new Map(kinds.map((kind) => [kind.kind, kind]));
type Checker = { checker: (line: Fields) => Fields; schema: TSchema };
const checkers = new Map<string, Checker>();

/** Compiled when the first line of the kind is read, and once for all imports. */
function getChecker(kind: RecordType): Checker {
  const known = checkers.get(kind.kind);
  if (known) return known;
  const schema = lineSchema(kind);
  const names = new Set(['kind', ...Object.keys(schema.properties)]);
  const check = fieldsChecker(schema);
  const checker = (line: Fields) => {
    // Somebody who types a name wrong would miss the value later.
    const unknown = Object.keys(line).filter((name) => !names.has(name) && line[name] !== undefined);
    if (unknown.length > 0) throw new Unknown([...names], unknown);
    return check(line);
  };
  const checked = { checker, schema };
  checkers.set(kind.kind, checked);
  return checked;
}

class Unknown extends Problem {
  readonly names: string[];
  constructor(names: string[], unknown: string[]) {
    super('invalid', `Unknown field(s): ${unknown.join(',')}`);
    this.names = names;
  }
}

/** The form of what a line lacks or has wrong. */
function expectation(error: Problem, schema: TSchema, byRules: boolean) {
  if (error instanceof Unknown) return error.names.join(', ');
  return expectedOf(schema, [...error.missing, ...error.notValid], { byRules });
}

/** What turns a line into the rows that wait to be written, or says why it cannot. */
export async function lineReader(database: Database, settings: Settings) {
  const importContext = { timezone: settings.timezone, zones: await listTimeZones(database) };

  return async (line: Line): Promise<Reading> => {
    const bad = (reason: string, expected?: string) => ({ bad: { line: line.number, reason, expected } });
    if ('problem' in line) return bad(line.problem, line.expected);
    const kind = kindsByName.get(String(line.fields['kind']));
    if (!kind) return bad(`Unknown kind; the kinds are ${[...kindsByName.keys()].join(', ')}`);
    const { checker, schema } = getChecker(kind);
    let inForm = false;
    try {
      const fields = checker(line.fields);
      inForm = true;
      return {
        staged: { line: line.number, kind: kind.kind, ...(await waiting(database, kind, fields, importContext)) },
      };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ...bad(error.message, expectation(error, schema, inForm)), ...placeholder(kind, line) };
    }
  };
}

async function waiting(database: Database, kind: RecordType, fields: Fields, importContext: ImportContext) {
  if (!isBulk(kind)) {
    await kind.verify?.(database, fields);
    return { rows: [singleRow(kind.kind, fields, kind.references ?? {})] };
  }
  const rows = await rowsOf(kind, fields, importContext);
  return kind.unique?.applies(fields) === true ? { rows, unique: fields[kind.unique.field] as string } : { rows };
}

/** A line's fields as they are, with its references by `field/position`. */
function singleRow(kind: string, fields: Fields, references: Record<string, string>) {
  const refs = Object.entries(references).flatMap(([name, to]) =>
    fields[name] === undefined
      ? []
      : [fields[name]].flat().map((ref, n) => [`${name}/${n}`, [to, ref as string] as [string, string]] as const),
  );
  return { table: '', data: fields, refs: Object.fromEntries(refs), ref_kind: kind, ref: fields['ref'] as string };
}

/** Holds the place of a bad line and its parts, so that the lines which refer to them are not called bad as well. */
function placeholder(kind: RecordType, { number, fields }: Line & { fields: Fields }): Reading {
  const ref = getRef(fields);
  if (ref === undefined) return {};
  const row = (ref_kind: string, ref: string) => ({ table: '', data: {}, refs: {}, ref_kind, ref });
  const parts = Object.entries((isBulk(kind) && kind.parts) || {}).flatMap(([name, part]) => {
    if (!('kind' in part) || part.kind === undefined) return [];
    const members = [fields[name] ?? {}].flat();
    return members.map((member, n) => row(part.kind!, getRef(member) ?? `${ref}/${name}/${n + 1}`));
  });
  return { staged: { line: number, kind: kind.kind, rows: [row(kind.kind, ref), ...parts], bad: true } };
}

function getRef(fields: unknown) {
  const ref = (fields as Fields | null)?.['ref'];
  return typeof ref === 'string' || typeof ref === 'number' ? String(ref) : undefined;
}
