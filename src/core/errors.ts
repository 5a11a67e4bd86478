const statuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;

export type ProblemKind = keyof typeof statuses;
export type ProblemStatus = (typeof statuses)[ProblemKind];

/** One error with its code, for interfaces that respond with error codes. */
export type CodedError = { code: string; message: string };

type Details = {
  /** Invalid fields in schema order, for interfaces that list them. */
  missing?: string[];
  notValid?: string[];
  faults?: CodedError[];
  /** Seconds until a retry may succeed. */
  retryAfter?: number;
  cause?: unknown;
};

/** An expected error. Services throw it; each interface formats it. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly missing: string[];
  readonly notValid: string[];
  readonly faults: CodedError[];
  readonly retryAfter: number | undefined;

  constructor(kind: ProblemKind, message: string, details: Details = {}) {
    const { missing = [], notValid = [], faults = [], retryAfter, cause } = details;
    super(message, { cause });
    this.kind = kind;
    this.missing = missing;
    this.notValid = notValid;
    this.faults = faults;
    this.retryAfter = retryAfter;
  }

  get status(): ProblemStatus {
    return statuses[this.kind];
  }
}

/** Lists fields in one message, missing ones first: `Missing field(s): title,phone. Field(s) not valid: level`. */
export function invalidFields({ missing = [], notValid = [] }: { missing?: string[]; notValid?: string[] }) {
  const sentences = [
    ...(missing.length > 0 ? [`Missing field(s): ${missing.join(',')}`] : []),
    ...(notValid.length > 0 ? [`Field(s) not valid: ${notValid.join(',')}`] : []),
  ];
  return new Problem('invalid', sentences.join('. '), { missing, notValid });
}

export const notFound = (item: string) => new Problem('not_found', `${item} not found`);

export const unavailable = (message: string, cause?: unknown) =>
  new Problem('unavailable', message, { retryAfter: 1, cause });
