// Load for the benchmark, made in the application's own process. The end of a run is the moment at which its last event has been created:
// nothing polls, and it is the same moment for every world.
import { getRun, start } from "workflow/api";
import { getWorld } from "workflow/runtime";

const ends = new Map(); // run -> what is told of its end
let watched = false;

function watch() {
  if (watched) return;
  watched = true;
  const { events } = getWorld();
  const create = events.create.bind(events);
  events.create = async (runId, event, ...rest) => {
    const result = await create(runId, event, ...rest);
    if (event.eventType === "run_completed") end(runId).done();
    if (event.eventType === "run_failed") end(runId).failed(new Error(`run ${runId} failed: ${JSON.stringify(event.eventData).slice(0, 500)}`));
    return result;
  };
}

function end(runId) {
  if (!ends.has(runId)) {
    const e = {};
    e.promise = new Promise((done, failed) => Object.assign(e, { done, failed }));
    e.promise.catch(() => {}); // whoever waits sees it
    ends.set(runId, e);
  }
  return ends.get(runId);
}

const ended = (runId) => end(runId).promise.finally(() => ends.delete(runId));

// Each measurement runs one workflow and gives times in milliseconds since its start.
const measurements = {
  run: async (workflow, args) => {
    const began = performance.now();
    await ended((await start(workflow, args)).runId);
    return { total: performance.now() - began };
  },
  start: async (workflow, args, rest) => {
    const began = performance.now();
    const { runId } = await start(workflow, args);
    const total = performance.now() - began;
    rest.push(ended(runId));
    return { total };
  },
  stream: async (workflow, args) => {
    const began = performance.now();
    const { runId } = await start(workflow, args);
    let first;
    let count = 0;
    for await (const _ of getRun(runId).getReadable()) {
      first ??= performance.now() - began;
      count++;
    }
    if (count !== args[0]) throw new Error(`${count} chunks instead of ${args[0]}`);
    const total = performance.now() - began;
    await ended(runId);
    return { first, total };
  },
};

// load repeats a measurement, so many at once, for a time or until it was made so often. It gives all times, and how long it took.
export async function load(workflow, { measure, args, atOnce, ms, most = Infinity }) {
  watch();
  const times = [];
  const rest = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      do times.push(await measurements[measure](workflow, args, rest));
      while (performance.now() - began < ms && times.length < most);
    }),
  );
  const took = performance.now() - began;
  await Promise.all(rest);
  return { times, took };
}
