"use strict";
// The context of a trace, as the runtime adds it to messages: by OpenTelemetry if the application has it.
Object.defineProperty(exports, "__esModule", { value: true });
exports.traceHeaders = exports.traceCarrier = void 0;
let api;
const load = async () => {
    const name = "@opentelemetry/api"; // a variable, so that bundlers do not look for it
    try {
        return (await import(name));
    }
    catch {
        return undefined;
    }
};
const traceCarrier = async () => {
    api ??= load();
    const otel = await api;
    const carrier = {};
    otel?.propagation.inject(otel.context.active(), carrier);
    return carrier;
};
exports.traceCarrier = traceCarrier;
const traceHeaders = (carrier) => Object.fromEntries(["traceparent", "tracestate", "baggage"].flatMap((name) => (carrier[name] ? [[name, carrier[name]]] : [])));
exports.traceHeaders = traceHeaders;
