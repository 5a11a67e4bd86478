const pattern = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}/;

type Header = string | string[] | undefined;

/** The trace id of a W3C `traceparent` header; undefined without a valid one. */
export function parseTraceId(traceparent: Header) {
  if (typeof traceparent !== 'string' || traceparent.length > 100 || traceparent.startsWith('ff')) return undefined;
  const [, traceId, parentId] = pattern.exec(traceparent) ?? [];
  return traceId === undefined || /^0+$/.test(traceId) || /^0+$/.test(parentId!) ? undefined : traceId;
}

/** The header for a call within the request: unchanged, or absent unless it is valid. */
export const passOnTraceparent = (traceparent: Header): { traceparent?: string } =>
  parseTraceId(traceparent) === undefined ? {} : { traceparent: traceparent as string };
