const getStatus = {
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

export type ProblemKind = keyof typeof getStatus;
export type ProblemStatus = (typeof getStatus)[ProblemKind];

/** One thing that is wrong, for interfaces that answer with codes. */
export type Fault = { code: string; message: string };

type Details = {
  /** The fields at fault, in the document's order, for interfaces that answer with lists instead of a sentence. */
  missing?: string[];
  notValid?: string[];
  faults?: Fault[];
  /** Seconds after which the same request may succeed. */
  retryAfter?: number;
  cause?: unknown;
};

/** Anything that can go wrong on purpose. Services throw it; each interface decides how it reads. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly missing: string[];
  readonly notValid: string[];
  readonly faults: Fault[];
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
    return getStatus[this.kind];
  }
}

/** Names the fields at fault in one text, missing ones first: `Missing field(s): title,phone. Field(s) not valid: level`. */
export function invalidFields({ missing = [], notValid = [] }: { missing?: string[]; notValid?: string[] }) {
  const sentences = [
    ...(missing.length > 0 ? [`Missing field(s): ${missing.join(',')}`] : []),
    ...(notValid.length > 0 ? [`Field(s) not valid: ${notValid.join(',')}`] : []),
  ];
  return new Problem('invalid', sentences.join('. '), { missing, notValid });
}

export const notFound = (what: string) => new Problem('not_found', `${what} not found`);

export const unavailable = (message: string, cause?: unknown) =>
  new Problem('unavailable', message, { retryAfter: 1, cause });
