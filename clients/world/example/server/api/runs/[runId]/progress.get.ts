// GET /api/runs/wrun_…/progress?from=0 answers the lines of an order's progress as they are written.
import { defineEventHandler, getQuery, getRouterParam } from "nitro/h3";
import { getRun } from "workflow/api";

export default defineEventHandler((event) => {
  const startIndex = Number(getQuery(event).from ?? 0);
  const lines = new TransformStream<string, string>({ transform: (line, out) => out.enqueue(`${line}\n`) });
  const readable = getRun(getRouterParam(event, "runId") ?? "").getReadable<string>({ startIndex });
  return new Response(readable.pipeThrough(lines).pipeThrough(new TextEncoderStream()), { headers: { "content-type": "text/plain" } });
});
