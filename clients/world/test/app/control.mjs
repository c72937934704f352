// What the test program asks of the application: it starts runs, reads them and calls the world, with values in the serialization of v8.
import { readFile } from "node:fs/promises";
import v8 from "node:v8";
import { getHookByToken, getRun, resumeHook, start } from "workflow/api";
import { getWorld } from "workflow/runtime";
import { load } from "./load.mjs";

const { workflows } = JSON.parse(await readFile(new URL("./.well-known/workflow/v1/manifest.json", import.meta.url)));
const named = Object.assign({}, ...Object.values(workflows));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// ended waits for a run's last state.
async function ended(runId) {
  for (;;) {
    const { status } = await getWorld().runs.get(runId, { resolveData: "none" });
    if (!["pending", "running"].includes(status)) return status;
    await pause(20);
  }
}

const calls = {
  start: async (name, args) => (await start(named[name], args)).runId,
  ended,
  load: (name, options) => load(named[name], options),
  result: async (runId) => {
    await ended(runId);
    return getRun(runId).returnValue;
  },
  hook: getHookByToken,
  resume: async (token, payload) => (await resumeHook(token, payload)).runId,
  cancel: (runId) => getRun(runId).cancel(),
  wakeUp: (runId) => getRun(runId).wakeUp(),
  tailIndex: (runId, options) => getRun(runId).getReadable(options).getTailIndex(),
  world: (path, args) => {
    const members = path.split(".");
    const method = members.pop();
    const owner = members.reduce((o, m) => o[m], getWorld());
    return owner[method](...args);
  },
};

// stream answers what is read of a run's stream, a line for each chunk.
function stream(runId, options) {
  const lines = new TransformStream({ transform: (chunk, out) => out.enqueue(`${v8.serialize(chunk).toString("base64")}\n`) });
  return new Response(getRun(runId).getReadable(options).pipeThrough(lines).pipeThrough(new TextEncoderStream()));
}

const plain = (e) => ({ name: e?.name, message: e?.message ?? String(e), status: e?.status, code: e?.code, retryAfter: e?.retryAfter });

export async function control(name, body) {
  const args = v8.deserialize(body);
  if (name === "stream") return stream(...args);
  try {
    return new Response(v8.serialize({ value: await calls[name](...args) }));
  } catch (e) {
    return new Response(v8.serialize({ error: plain(e) }));
  }
}
