import { addErrors, getResource, itemNames } from './error-responses.ts';
import { notModifiedHeaders, requestIdHeader, successHeaders } from './headers.ts';
import { findSchema, type Document, type Operation, type Response } from './operation-types.ts';

/** Documents the responses of each operation, ids, list parameters, and the request. */
export function completeOperations<D extends Document>(document: D): D {
  const responses: Record<string, Response> = {
    NotModified: { description: 'The ETag matches `If-None-Match`', headers: notModifiedHeaders },
  };
  for (const [path, methods] of Object.entries((document.paths ?? {}) as Record<string, Record<string, Operation>>)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      describeIds(name, operation);
      describeListParameters(operation);
      addRequestExample(operation, document);
      describeResponses(operation);
      addErrors(name, operation, document, responses);
    }
  }
  document.components = { ...document.components, responses };
  return document;
}

function describeIds(name: string, { parameters = [] }: Operation) {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  for (const [n, parameter] of inPath.entries()) {
    const item = parameter.name === 'id' && n > 0 ? 'Course date' : itemNames[getResource(name)];
    parameter.description ??= `${parameter.name === 'code' ? 'Code' : 'Id'} of the ${item?.toLowerCase()}`;
  }
}

/** Lists are sent as `name[]=1&name[]=2`. */
function describeListParameters({ parameters = [] }: Operation) {
  for (const parameter of parameters) {
    if (parameter.name.endsWith('[]')) Object.assign(parameter, { style: 'form', explode: true });
  }
}

/** Copies the example of a body's schema to each content type, where clients and pages look for it. */
function addRequestExample({ requestBody }: Operation, document: Document) {
  for (const content of Object.values(requestBody?.content ?? {})) {
    const [example] = findSchema(document, content.schema)?.examples ?? [];
    if (example !== undefined) content.example = example;
  }
}

function describeResponses(operation: Operation) {
  const { responses } = operation;
  if (responses['304']) responses['304'] = { $ref: '#/components/responses/NotModified' };
  for (const [status, response] of Object.entries(responses)) {
    if ('$ref' in response) continue;
    const isSuccess = status.startsWith('2');
    response.headers = { ...response.headers, ...(isSuccess ? successHeaders(operation) : requestIdHeader) };
    const isList = response.content?.['application/json']?.schema.type?.includes('array') ?? false;
    if (isSuccess) response.description = status === '201' ? 'Created' : isList ? 'Success: a list' : 'Success';
    if (status === '400') response.description = 'The request is not valid';
  }
}
