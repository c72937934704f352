// Runs an order from the trigger to the receipt, with the app in this program, and prints
// what happens.
import { Client } from "@upstash/workflow";
import { start } from "./app.mjs";

const client = new Client({ baseUrl: process.env.QSTASH_URL, token: process.env.QSTASH_TOKEN });
const port = Number(process.env.PORT ?? 3000);

// until asks until an answer is as wanted.
const until = async (ask, good) => {
  for (let i = 0; i < 600; i++) {
    const answer = await ask();
    if (good(answer)) return answer;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error("it takes too long");
};

const server = start(port, async () => {
  try {
    const { workflowRunId } = await client.trigger({
      url: `http://127.0.0.1:${port}/order`, retries: 3, retryDelay: "500", label: "order",
      body: { items: [{ name: "tea", price: 4 }, { name: "cup", price: 12 }] },
    });
    console.log("started", workflowRunId);

    const eventId = `approve-${workflowRunId}`;
    await until(() => client.getWaiters({ eventId }), (waiters) => waiters.length === 1);
    console.log("it waits for an approval");
    await client.notify({ eventId, eventData: { approved: true, by: "ada" } });

    const log = async () => (await client.logs({ workflowRunId })).runs[0];
    const run = await until(log, (r) => r.workflowState !== "RUN_STARTED");
    for (const { type, steps } of run.steps) console.log(`${type}: ${steps.map((s) => `${s.stepName} ${s.state}`).join(", ")}`);
    console.log(run.workflowState, run.workflowRunResponse);
    process.exitCode = run.workflowState === "RUN_SUCCESS" ? 0 : 1;
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
