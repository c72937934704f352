// GET /api/runs/wrun_… answers the state of a run, and its result once there is one.
import { defineEventHandler, getRouterParam } from "nitro/h3";
import { getRun } from "workflow/api";

export default defineEventHandler(async (event) => {
  const run = getRun(getRouterParam(event, "runId") ?? "");
  const status = await run.status;
  return { status, result: status === "completed" ? await run.returnValue : undefined };
});
