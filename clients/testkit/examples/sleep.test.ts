import { Client } from "@upstash/workflow";
import { serve as serveWorkflow } from "@upstash/workflow/cloudflare";
import { expect, test } from "vitest";
import { Trireme, serve } from "trireme-testkit";

// The program under test: a workflow that reminds a customer after a week.
const reminders: string[] = [];
const remind = serveWorkflow<{ customer: string }>(async (context) => {
  const { customer } = context.requestPayload;
  await context.run("welcome", () => void reminders.push(`welcome ${customer}`));
  await context.sleep("a week", "7d");
  await context.run("remind", () => void reminders.push(`remind ${customer}`));
});

test("a workflow that sleeps a week", async () => {
  const trireme = await Trireme.start();
  const app = await serve((request) => remind.fetch(request, trireme.env));
  try {
    const client = new Client(trireme.qstash);
    const { workflowRunId } = await client.trigger({ url: app.url, body: { customer: "ann" } });

    await trireme.waitIdle();
    expect(reminders).toEqual(["welcome ann"]);

    await trireme.advance("167h"); // an hour is missing
    expect(reminders).toEqual(["welcome ann"]);

    await trireme.advance("1h");
    expect(reminders).toEqual(["welcome ann", "remind ann"]);
    const { runs } = await client.logs({ workflowRunId });
    expect(runs[0]?.workflowState).toBe("RUN_SUCCESS");
  } finally {
    await app.close();
    await trireme.stop();
  }
});
