// The context of a trace, as the runtime adds it to messages: by OpenTelemetry if the application has it.

interface Api {
  propagation: { inject(context: unknown, carrier: Record<string, string>): void };
  context: { active(): unknown };
}

let api: Promise<Api | undefined> | undefined;

const load = async (): Promise<Api | undefined> => {
  const name = "@opentelemetry/api"; // a variable, so that bundlers do not look for it
  try {
    return (await import(name)) as Api;
  } catch {
    return undefined;
  }
};

export const traceCarrier = async (): Promise<Record<string, string>> => {
  api ??= load();
  const otel = await api;
  const carrier: Record<string, string> = {};
  otel?.propagation.inject(otel.context.active(), carrier);
  return carrier;
};

export const traceHeaders = (carrier: Record<string, string>): Record<string, string> =>
  Object.fromEntries(["traceparent", "tracestate", "baggage"].flatMap((name) => (carrier[name] ? [[name, carrier[name]]] : [])));
