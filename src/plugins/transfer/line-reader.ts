import { createHash } from 'node:crypto';
import type { TSchema } from '@sinclair/typebox';
import { createFieldsParser } from '../../core/schema/validator.ts';
import { eq } from 'drizzle-orm';
import type { Ctx } from '../../database/context.ts';
import { itemAt, Problem } from '../../core/errors.ts';
import { loadTimeZones } from '../../database/time-zones.ts';
import type { Database } from '../../database/client.ts';
import { providers } from '../../database/tables/providers.ts';
import { describeExpected } from './expected-formats.ts';
import { isBulk, lineSchema, toStagedRows, type ImportContext, type Fields, type RecordType } from './record-type.ts';
import { recordTypes } from './record-types/index.ts';
import type { Line } from './lines.ts';
import type { BadLine, StagedLine } from './staging.ts';

/** A staged line, an error, or both: a bad line is staged as a placeholder. */
type ReadLine = { staged?: StagedLine; bad?: BadLine };

const recordTypesByKind = new Map(recordTypes.map((kind) => [kind.kind, kind]));
type Checker = { check: (line: Fields) => Fields; names: Set<string>; schema: TSchema };
const checkers = new Map<string, Checker>();

/** Compiled at the first line of its type, once per process. */
function getChecker(kind: RecordType): Checker {
  const cached = checkers.get(kind.kind);
  if (cached) return cached;
  const schema = lineSchema(kind);
  const names = new Set(['kind', ...Object.keys(schema.properties)]);
  const compiled = { check: createFieldsParser(schema), names, schema };
  checkers.set(kind.kind, compiled);
  return compiled;
}

/** Returns a function that validates a line and converts it to staged rows. */
export async function createLineReader(database: Database, { settings, providerId }: Ctx) {
  const schools = await database.db
    .select({ title: providers.title })
    .from(providers)
    .where(eq(providers.id, providerId));
  const zones = await loadTimeZones(database);
  const importContext = { timezone: settings.timezone, zones, schoolTitle: itemAt(schools).title };

  return async (line: Line): Promise<ReadLine> => {
    const bad = (reason: string, expected?: string) => ({ bad: { line: line.number, reason, expected } });
    if ('problem' in line) return bad(line.problem, line.expected);
    const kind = recordTypesByKind.get(String(line.fields['kind']));
    if (!kind) return bad(`Unknown kind; the kinds are ${[...recordTypesByKind.keys()].join(', ')}`);
    const { check, names, schema } = getChecker(kind);
    const refuse = (reason: string, expected?: string) => ({ ...bad(reason, expected), ...placeholder(kind, line) });
    // A mistyped name would silently lose its value.
    const unknown = Object.keys(line.fields).filter((name) => !names.has(name) && line.fields[name] !== undefined);
    if (unknown.length > 0) return refuse(`Unknown field(s): ${unknown.join(',')}`, [...names].join(', '));
    let byRules = false;
    try {
      const fields = check(line.fields);
      byRules = true;
      return {
        staged: {
          ...{ line: line.number, kind: kind.kind, content: hashContent(line.fields) },
          ...(await toStagedLine(database, kind, fields, importContext)),
        },
      };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return refuse(error.message, describeExpected(schema, [...error.missing, ...error.notValid], { byRules }));
    }
  };
}

async function toStagedLine(database: Database, kind: RecordType, fields: Fields, importContext: ImportContext) {
  if (!isBulk(kind)) {
    await kind.verify?.(database, fields);
    return { rows: [singleRow(kind.kind, fields, kind.references ?? {})] };
  }
  const rows = await toStagedRows(kind, fields, importContext);
  return kind.unique?.applies(fields) === true ? { rows, unique: fields[kind.unique.field] as string } : { rows };
}

/** An unconverted line, with its references by `field/position`. */
function singleRow(kind: string, fields: Fields, references: Record<string, string>) {
  const refs = Object.entries(references).flatMap(([name, to]) =>
    fields[name] === undefined
      ? []
      : [fields[name]].flat().map((ref, n) => [`${name}/${n}`, [to, ref as string] as [string, string]] as const),
  );
  return { table: '', data: fields, refs: Object.fromEntries(refs), ref_kind: kind, ref: fields['ref'] as string };
}

/** Stages the refs of a bad line and its parts, so that lines which refer to them are not reported as well. */
function placeholder(kind: RecordType, { number, fields }: Line & { fields: Fields }): ReadLine {
  const ref = readRef(fields);
  if (ref === undefined) return {};
  const row = (ref_kind: string, ref: string) => ({ table: '', data: {}, refs: {}, ref_kind, ref });
  const parts = Object.entries((isBulk(kind) && kind.parts) || {}).flatMap(([name, part]) => {
    if (!('kind' in part) || part.kind === undefined) return [];
    const members = [fields[name] ?? {}].flat();
    return members.map((member, n) => row(part.kind!, readRef(member) ?? `${ref}/${name}/${n + 1}`));
  });
  return { staged: { line: number, kind: kind.kind, rows: [row(kind.kind, ref), ...parts], bad: true } };
}

function readRef(fields: unknown) {
  const ref = (fields as Fields | null)?.['ref'];
  return (typeof ref === 'string' && ref !== '') || typeof ref === 'number' ? String(ref) : undefined;
}

/** Hashes the values of a line, whatever their order and format, but not the password, which that would expose. */
function hashContent(fields: Fields): string {
  const text = JSON.stringify(toComparable({ ...fields, password: undefined }));
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

const isUnset = (value: unknown) => value === undefined || value === null || value === '';

function toComparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComparable);
  if (typeof value !== 'object' || value === null)
    return isUnset(value) ? null : typeof value === 'string' ? value : JSON.stringify(value);
  const set = Object.entries(value).filter(([, member]) => !isUnset(member));
  return set.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, toComparable(member)]);
}
