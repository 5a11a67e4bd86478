import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import type { FastifyPluginAsync } from 'fastify';
import type { Log } from '../../core/log.ts';

type Environment = Record<string, string | undefined>;
type Tracing = { plugin: FastifyPluginAsync; stop(): Promise<void> };

/** True if the standard variables of OpenTelemetry set an endpoint and nothing switches traces off. */
const isWanted = (env: Environment) =>
  Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) &&
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  env['OTEL_TRACES_EXPORTER'] !== 'none';

/** Sends a trace for each request; loads nothing unless it is on. Packages that are missing cost traces, not the start. */
export async function startTracing(env: Environment, log: Pick<Log, 'info' | 'warn'>): Promise<Tracing | undefined> {
  if (!isWanted(env)) return undefined;
  try {
    return await openTracing(log);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const advice = code === 'ERR_MODULE_NOT_FOUND' ? 'packages are missing, see docs/operate/monitoring.md' : code;
    log.warn(`Traces are off: OpenTelemetry cannot be loaded (${advice || 'unknown error'})`);
    return undefined;
  }
}

async function openTracing(log: Pick<Log, 'info'>): Promise<Tracing> {
  const [{ FastifyOtelInstrumentation }, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@fastify/otel'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const named = resources.resourceFromAttributes({ 'service.name': 'course-booking-service' });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
  const detected = resources.detectResources({ detectors: [resources.envDetector] });
  /** Leaves out what may hold values of a request: its path, and messages of errors. */
  class PrivateSpanProcessor extends sdk.BatchSpanProcessor {
    override onEnd(span: ReadableSpan) {
      const { attributes } = span;
      attributes['url.path'] = attributes['http.route'] ?? '';
      const isFault = Number(attributes['http.response.status_code'] ?? 500) >= 500;
      super.onEnd(Object.assign(span, { status: { code: isFault ? span.status.code : 0 } }));
    }
  }
  const provider = new sdk.NodeTracerProvider({
    resource: resources.defaultResource().merge(named).merge(detected),
    spanProcessors: [new PrivateSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  const instrumentation = new FastifyOtelInstrumentation({ instrumentHooks: false, recordExceptions: false });
  instrumentation.setTracerProvider(provider);
  log.info('Traces go to the endpoint of OTEL_EXPORTER_OTLP_ENDPOINT');
  return {
    plugin: instrumentation.plugin() as FastifyPluginAsync,
    stop: () => provider.shutdown().catch(() => undefined),
  };
}
