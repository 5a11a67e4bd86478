import { classifyError } from './database-errors.ts';
import { kindCodes, type ErrorCode } from './error-codes.ts';

const statuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;

export type ProblemKind = keyof typeof statuses;
type ProblemStatus = (typeof statuses)[ProblemKind];

/** An error with its code; `field` is missing or not valid, `concerns` the field or item that another rule concerns. */
export type CodedError = {
  code: ErrorCode;
  message: string;
  field?: string;
  concerns?: string;
  isMissing?: boolean;
  unknown?: string[];
  /** Where the request does not number its participants. */
  participantId?: number;
};

type Details = {
  /** Invalid fields in schema order, for interfaces that list them. */
  missing?: string[];
  notValid?: string[];
  /** Names that the operation does not take. */
  unknown?: string[];
  errors?: CodedError[];
  /** Id of the item that is equal. */
  conflictsWith?: number | undefined;
  /** Seconds until a retry may succeed. */
  retryAfter?: number;
  cause?: unknown;
};

type InvalidFields = Pick<Details, 'missing' | 'notValid' | 'unknown'> & {
  /** Fields with a valid form that break a rule, and its code. */
  rules?: Record<string, ErrorCode>;
};

/** An expected error. Services throw it; each interface formats it. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly missing: string[];
  readonly notValid: string[];
  readonly unknown: string[];
  readonly errors: CodedError[];
  readonly conflictsWith: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(kind: ProblemKind, message: string, details: Details = {}) {
    const { missing = [], notValid = [], unknown = [], errors = [], conflictsWith, retryAfter, cause } = details;
    super(message, { cause });
    this.kind = kind;
    this.missing = missing;
    this.notValid = notValid;
    this.unknown = unknown;
    this.errors = errors;
    this.conflictsWith = conflictsWith;
    this.retryAfter = retryAfter;
  }

  get status(): ProblemStatus {
    return statuses[this.kind];
  }

  /** Each code once: those of the booking, else one by the kind. */
  get codes(): ErrorCode[] {
    return this.errors.length > 0 ? [...new Set(this.errors.map(({ code }) => code))] : [kindCodes[this.kind]];
  }

  /** The cursor of a feed whose changes are not known any more. */
  static invalidCursor() {
    return new Problem('gone', 'The cursor is not valid any more: request a new one, then read everything again');
  }

  static notFound(item: string) {
    return new Problem('not_found', `${item} not found`);
  }

  /** Returns the item, or throws if there is none. */
  static assertFound<T>(found: T | undefined, item: string): T {
    if (found === undefined) throw Problem.notFound(item);
    return found;
  }

  /**
   * Lists fields in one message, missing ones first: `Missing field(s): title,phone. Field(s) not valid: level`. With
   * `order`, the names of the fields, they and the members of lists in them are sorted. Unknown names come last in it.
   * Their code is the first one, then those of rules.
   */
  static invalidFields({ missing = [], notValid = [], unknown = [], rules = {} }: InvalidFields, order?: string[]) {
    const sort = (paths: string[]) => (order === undefined ? paths : sortByField(paths, order));
    const broken = Object.keys(rules);
    const details = { missing: sort(missing), notValid: sort([...notValid, ...broken]), unknown };
    const message = listFields(details);
    const others = listFields({ missing: sort(missing), notValid: sort(notValid) });
    const errors: CodedError[] = [
      ...(unknown.length > 0 ? [{ code: 'field_unknown' as const, message, unknown }] : []),
      ...broken.map((field) => ({ code: rules[field]!, message: listFields({ notValid: [field] }), field })),
      ...(broken.length > 0 && others !== '' ? [{ code: kindCodes.invalid, message: others }] : []),
    ];
    return new Problem('invalid', message, { ...details, errors });
  }

  /** Replaces a constraint violation by the problem registered under the constraint's name. */
  static async mapConstraints<T>(problems: Record<string, () => Problem>, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const failure = classifyError(error);
      const toProblem = failure?.kind === 'rule' ? problems[failure.constraint] : undefined;
      throw toProblem ? toProblem() : error;
    }
  }

  static coded(code: ErrorCode, message: string, details: Omit<Details, 'errors'> = {}) {
    return new Problem('invalid', message, { ...details, errors: [{ code, message }] });
  }

  static unavailable(message: string, cause?: unknown) {
    return new Problem('unavailable', message, { retryAfter: 1, cause });
  }
}

const listFields = ({ missing = [], notValid = [], unknown = [] }: InvalidFields) =>
  [
    ...(missing.length > 0 ? [`Missing field(s): ${missing.join(',')}`] : []),
    ...(notValid.length > 0 ? [`Field(s) not valid: ${notValid.join(',')}`] : []),
    ...(unknown.length > 0 ? [`Field(s) not known: ${unknown.join(',')}`] : []),
  ].join('. ');

/** The item at this place. Throws an internal error if there is none. */
export function itemAt<T>(items: readonly (T | undefined)[], place = 0): T {
  const item = items[place];
  if (item === undefined) throw new Error(`No item is at ${place}`);
  return item;
}

/** Sorts paths such as `gatherings[2].date` by their field; drops duplicates and fields outside `order`. */
function sortByField(paths: string[], order: string[]) {
  const byField = new Map(order.map((field) => [field, new Set<string>()]));
  for (const path of paths) byField.get(itemAt(path.split(/[.[]/, 1)))?.add(path);
  return [...byField.values()].flatMap((found) => [...found]);
}
