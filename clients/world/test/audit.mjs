// audit reads the log of a run that has ended and checks what holds for every run, whatever happened while it ran:
// nothing is recorded twice, nothing is missing, and the steps are as the log says.
import assert from "node:assert/strict";

const terminal = { run_completed: "completed", run_failed: "failed", run_cancelled: "cancelled" };
const ends = ["step_completed", "step_failed"];

// once gives the events of some types by their correlation ids; each id may appear once.
function once(events, ...types) {
  const found = new Map();
  for (const e of events.filter((e) => types.includes(e.eventType))) {
    assert.ok(!found.has(e.correlationId), `${e.eventType} of ${e.correlationId} is recorded twice`);
    found.set(e.correlationId, e);
  }
  return found;
}

export async function audit(app, runId) {
  const [run, events, steps] = await Promise.all([app.world("runs.get", runId), app.events(runId), app.all("steps.list", { runId, limit: 100 })]);
  const ids = events.map((e) => e.eventId);
  assert.deepEqual(ids, [...new Set(ids)].sort(), "event ids are unique and ascend");
  for (const e of events) assert.equal(e.runId, runId);
  const count = (type) => events.filter((e) => e.eventType === type).length;
  assert.equal(count("run_created"), 1);
  assert.ok(count("run_started") <= 1, "run_started is recorded twice");
  const last = events.filter((e) => terminal[e.eventType]);
  if (last[0]?.eventType !== "run_cancelled") assert.equal(last.length, 1, `the run ends ${last.length} times`);
  assert.equal(new Set(last.map((e) => e.eventType)).size, 1, "the run ends in one way"); // each cancellation may be recorded
  assert.equal(run.status, terminal[last[0].eventType]);
  assert.ok(run.completedAt instanceof Date && run.createdAt instanceof Date);

  const created = once(events, "step_created");
  const ended = once(events, ...ends);
  once(events, "hook_created", "hook_conflict");
  once(events, "hook_disposed");
  const waits = once(events, "wait_created");
  for (const id of once(events, "wait_completed").keys()) assert.ok(waits.has(id), `wait ${id} ends without a beginning`);
  assert.deepEqual(steps.map((s) => s.stepId).sort(), [...created.keys()].sort());
  for (const step of steps) {
    const of = events.filter((e) => e.correlationId === step.stepId).map((e) => e.eventType);
    assert.equal(of[0], "step_created", `step ${step.stepId}: ${of}`);
    assert.equal(step.attempt, of.filter((t) => t === "step_started").length, `attempts of ${step.stepId}`);
    const end = ended.get(step.stepId);
    if (end) assert.equal(`step_${step.status}`, end.eventType);
    else if (run.status === "completed") assert.fail(`step ${step.stepName} is ${step.status} at the end of a completed run`);
  }
  return { run, events, steps };
}
