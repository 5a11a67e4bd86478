import type { FastifySchema } from 'fastify';
import type { Problem, ProblemKind } from '../../core/errors.ts';

export type Samples = Record<string, { kind: ProblemKind; message: string }>;

declare module 'fastify' {
  interface FastifySchema {
    /** The item that "not found" errors name. */
    item?: string;
    /** Samples of the 400 response, if they do not follow from the fields. */
    invalidSamples?: Record<string, Problem>;
    /** The 403 response, if the profile of the key is not its only reason. */
    forbidden?: { name: string; description: string; samples: Samples };
    /** Headers of a success beside those that follow from the parameters. */
    responseHeaders?: readonly 'X-Warning'[];
  }
}

/** Declarations of a route for the OpenAPI document. */
export type Declared = Pick<FastifySchema, 'item' | 'invalidSamples' | 'forbidden' | 'responseHeaders'> & {
  hasSpreadsheet?: true | undefined;
  /** A repeated request gets the first response. */
  isRepeatable?: boolean;
};

type Schema = { $ref?: string; type?: string | string[]; required?: string[]; examples?: unknown[] };
type Media = { schema: Schema; example?: unknown; examples?: Record<string, { value: object }> };
export type Content = Record<string, Media>;
export type Response = { description: string; content?: Content; headers?: object } | { $ref: string };
export type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  deprecated?: boolean;
  example?: string | number | boolean | (string | number | boolean)[] | undefined;
  style?: 'form';
  explode?: boolean;
  schema?: object;
};
/** Operations and documents as @fastify/swagger generates them. */
export type Operation = {
  operationId?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Response>;
  security?: object[];
};
/** An operation with references to parameters of several operations. */
export type CompleteOperation = Omit<Operation, 'parameters'> & { parameters?: (Parameter | { $ref: string })[] };
export type Document = {
  paths?: object;
  tags?: { name: string }[];
  components?: { responses?: object; parameters?: object; headers?: object; schemas?: Record<string, Schema> };
};

export const findSchema = ({ components }: Document, { $ref = '' }: Schema) =>
  components?.schemas?.[$ref.split('/').at(-1) ?? ''];
