type Node = Record<string, unknown>;

/**
 * The document with every reference replaced by its target, and `anyOf` of an object and null by a list of types. Equal
 * references have the same object, which Ajv compiles once.
 */
export function dereference<T = unknown>(document: object): T {
  const root = document as Node;
  const find = (pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((node, name) => (node as Node)[name], root);

  const targets = new Map<string, Node>();
  function visitTarget(pointer: string) {
    if (!targets.has(pointer)) targets.set(pointer, visit(find(pointer)) as Node);
    return targets.get(pointer)!;
  }

  function visit(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...node } = value as Node & { $ref?: string };
    const target = typeof $ref === 'string' ? visitTarget($ref) : {};
    if (Object.keys(node).length === 0) return target;
    const resolved = { ...target };
    for (const [key, child] of Object.entries(node)) resolved[key] = visit(child);
    return mergeNull(resolved);
  }
  return visit({ ...root, components: undefined }) as T;
}

function mergeNull(schema: Node): Node {
  const { anyOf, ...rest } = schema as Node & { anyOf?: Node[] };
  const [object, none] = anyOf ?? [];
  if (anyOf?.length !== 2 || object?.['type'] !== 'object' || none?.['type'] !== 'null') return schema;
  return { ...object, ...rest, type: ['object', 'null'] };
}

/** Keywords whose values are data. */
const data = new Set(['default', 'enum', 'const', 'example', 'examples', 'required']);

const isEmptyNode = (node: unknown) => Object.keys((node as Node | undefined) ?? {}).length === 0;
const hasMembers = ({ properties, additionalProperties }: Node) =>
  !isEmptyNode(properties) || (typeof additionalProperties === 'object' && !isEmptyNode(additionalProperties));

const isObject = (schema: Node) => schema['type'] === 'object' && hasMembers(schema);
const isChoice = (schema: Node) => Array.isArray(schema['enum']) && schema['enum'].length > 1;

/** The schema without null and what a use of a component may have of its own, as a key. */
function toComparable(value: object): Node {
  const schema: Node = { ...value, description: undefined, default: undefined, examples: undefined };
  schema['type'] = [schema['type']]
    .flat()
    .filter((type) => type !== 'null')
    .join();
  if (Array.isArray(schema['enum'])) schema['enum'] = schema['enum'].filter((one) => one !== null);
  return schema;
}

/** Calls `see` with each schema of the document and its path. */
function visitSchemas(document: object, see: (schema: Node, path: string[]) => void) {
  function visit(value: unknown, path: string[], isSchema = true) {
    if (typeof value !== 'object' || value === null) return;
    if (isSchema) see(value as Node, path);
    for (const [key, child] of Object.entries(value))
      if (!(isSchema && data.has(key))) visit(child, [...path, key], !isSchema || key !== 'properties');
  }
  visit(document, []);
}

const isInline = (pointer: string) => !/^components\/schemas\/\w+$/.test(pointer);

/** Pointers of objects and enums that occur more than once; a component's name counts for all its uses. */
export function findRepeatedSchemas(document: object): string[][] {
  const pointers = new Map<string, string[]>();
  visitSchemas(document, (value, path) => {
    const schema = toComparable(value);
    if (!isObject(schema) && !isChoice(schema)) return;
    const key = JSON.stringify(schema);
    pointers.set(key, [...(pointers.get(key) ?? []), path.join('/')]);
  });
  return [...pointers.values()].filter((places) => places.length > 1 && places.some(isInline));
}

/** Pointers of objects with members that are not components. */
export function findInlineObjects(document: object): string[] {
  const pointers: string[] = [];
  visitSchemas(document, (schema, path) => {
    if ([schema['type']].flat().includes('object') && hasMembers(schema)) pointers.push(path.join('/'));
  });
  return pointers.filter(isInline);
}

/** The path of the list that has the item of a path: `/v2/orders` of `/v2/orders/{id}/payments`. */
export const itemsPath = (path: string) => path.split('/{')[0]!;

/** The id in the response to a write. */
export function idOf(body: unknown): number {
  const { id, coursedate_id, course_id, customer_id } = body as Record<string, number | string>;
  return Number(id ?? coursedate_id ?? course_id ?? customer_id);
}
