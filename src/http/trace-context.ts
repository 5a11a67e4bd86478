const pattern = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}/;

/** The trace id of a W3C `traceparent` header; undefined without a valid one. */
export function traceIdOf(traceparent: string | string[] | undefined) {
  if (typeof traceparent !== 'string' || traceparent.length > 100 || traceparent.startsWith('ff')) return undefined;
  const [, traceId, parentId] = pattern.exec(traceparent) ?? [];
  return traceId === undefined || /^0+$/.test(traceId) || /^0+$/.test(parentId!) ? undefined : traceId;
}
