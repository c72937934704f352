// The workflows. Each effect is counted by the world, so that a test can tell how often a
// step really ran.

// quick are settings that let a failed call be repeated soon. Old releases take them from
// here, newer ones from the trigger.
const quick = { retries: 3, retryDelay: "100" };

export const makeWorkflows = (world, sdk) => {
  const { createWorkflow, WorkflowNonRetryableError, WorkflowRetryAfterError } = sdk;
  const openai = { name: "openai", except: ["callApi"] };
  const context = { name: "context", parts: { api: { name: "api", parts: { openai }, except: ["callApi"] } }, except: ["addStep"] };
  const define = (route, options = {}) => createWorkflow((given) => route(world.library.watch(given, context)), { ...quick, ...options });
  const step = (context, name, value) =>
    context.run(name, () => {
      world.did(context, name);
      return value;
    });
  const all = {};

  // Outputs of every kind, each seen as it was by later steps.
  all.steps = define(async (context) => {
    const input = context.requestPayload;
    const nothing = await step(context, "nothing", undefined);
    const text = await step(context, "text", "Grüße <&> \u2028\u2029 \"日本\" \\");
    const object = await step(context, "object", { input, deep: [1, null, { a: "" }] });
    const number = await context.run("number", async () => 42);
    const nil = await step(context, "nil", null);
    return { nothing: nothing === undefined, text, object, number, nil, user: context.headers.get("x-user") };
  });

  all.sleeps = define(async (context) => {
    const times = [await step(context, "start", Date.now())];
    await context.sleep("number", 1);
    times.push(await context.run("after number", () => Date.now()));
    await context.sleep("text", "1s");
    await context.sleepUntil("date", new Date(times[0] + 3000));
    times.push(await context.run("after date", () => Date.now()));
    await context.sleepUntil("past", new Date(times[0] - 60_000));
    return times;
  });

  all.calls = define(async (context) => {
    const url = `${world.base}/out/`;
    const post = await context.call("post", { url: `${url}echo/post?x=1`, method: "POST", body: world.sdk.modern ? '{"n":1}' : { n: 1 }, headers: { "X-Mine": "yes" } });
    const get = await context.call("get", { url: `${url}echo/get`, method: "GET" });
    const refused = await context.call("refused", { url: `${url}status/418`, method: "POST", body: "x" });
    const flaky = await context.call("flaky", { url: `${url}flaky/${context.workflowRunId}`, method: "PUT", retries: 5, retryDelay: "10" });
    const text = await context.call("text", { url: `${url}text`, method: "GET" });
    const nobody = await context.call("nobody", { url: "http://127.0.0.1:1/", method: "GET", timeout: 5 });
    return {
      post: [post.status, post.body], get: [get.status, get.body.method], refused: [refused.status, refused.body],
      flaky: flaky.status, text: text.body, nobody: nobody.status >= 500,
    };
  });

  // A provider that the SDK knows, at an address of ours. Those of its other providers are fixed.
  all.provider = define(async (context) => {
    const answer = await context.api.openai.call("ask", {
      baseURL: `${world.base}/out/echo`, token: "secret", operation: "chat.completions.create", body: { model: "m", messages: [{ role: "user", content: "hi" }] },
    });
    return [answer.status, answer.body.method, answer.body.url, JSON.parse(answer.body.body).messages[0].content];
  });

  // A call of a workflow starts a run of its own and doesn't wait for it.
  all.caller = define(async (context) => {
    const called = await context.call("call", { url: `${world.base}/flows/child`, method: "POST", body: world.sdk.modern ? '{"x":4}' : { x: 4 } });
    return called.body.workflowRunId;
  });

  all.parallel = define(async (context) => {
    const [a, , called, waited, told] = await Promise.all([
      step(context, "a", "A"),
      context.sleep("nap", 1),
      context.call("call", { url: `${world.base}/out/echo/parallel`, method: "POST", body: "b" }),
      context.waitForEvent("wait", `nobody-${context.workflowRunId}`, { timeout: "1s" }),
      context.notify("notify", `nobody-else-${context.workflowRunId}`, { n: 1 }),
    ]);
    const after = await step(context, "after", "after");
    return { a, status: called.status, timeout: waited.timeout, told: told.notifyResponse, after };
  });

  all.wide = define(async (context) => {
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => step(context, `branch ${i}`, i)));
    return results.reduce((a, b) => a + b, 0);
  });

  // Parallel blocks in parallel branches.
  all.nested = define(async (context) => {
    const branch = async (name) => {
      const first = await step(context, `${name}1`, name);
      const pair = await Promise.all([step(context, `${name}2`, `${first}x`), step(context, `${name}3`, `${first}y`)]);
      return pair.join("+");
    };
    const both = await Promise.all([branch("l"), branch("r")]);
    return await step(context, "join", both.join("|"));
  });

  all.waiter = define(async (context) => {
    const { event, timeout } = context.requestPayload;
    const { eventData, timeout: late } = await context.waitForEvent("wait", event, timeout ? { timeout } : {});
    const after = await step(context, "after", "done");
    return { eventData, late, after };
  });

  all.notifier = define(async (context) => {
    const { event, data } = context.requestPayload;
    const { notifyResponse, eventData } = await context.notify("notify", event, data);
    return { woken: notifyResponse.map((n) => n.workflowRunId ?? n.waiter.headers["Upstash-Workflow-Runid"][0]), eventData };
  });

  // Two waits for the same event, after the notifications have come.
  all.lookback = define(async (context) => {
    await context.run("start", async () => void (await world.heard(`told ${context.workflowRunId}`)));
    const first = await context.waitForEvent("first", "look", { timeout: "30s" });
    const second = await context.waitForEvent("second", "look", { timeout: "30s" });
    return [first.eventData, second.eventData];
  });

  all.webhook = define(async (context) => {
    const webhook = await context.createWebhook("create");
    await context.run("publish", () => world.publish(context.workflowRunId, webhook.webhookUrl));
    const one = await context.waitForWebhook("one", webhook, "30s");
    const seen = { method: one.request.method, url: one.request.url, mine: one.request.headers.get("x-mine"), text: await one.request.text() };
    const two = await context.waitForWebhook("two", webhook, "30s");
    const three = await context.waitForWebhook("three", webhook, "1s");
    return { seen, two: two.request.method, late: three.timeout, url: webhook.webhookUrl };
  });
  all.child = define(async (context) => {
    const { x } = context.requestPayload;
    return await context.run("double", () => {
      world.did(context, "double");
      world.fault(`child ${context.headers.get("x-parent")}`);
      return { twice: x * 2, parent: context.headers.get("x-parent") };
    });
  });

  all.parent = define(async (context) => {
    const { body, isFailed, isCanceled } = await context.invoke("child", {
      workflow: all.child, body: { x: context.requestPayload.x }, headers: { "x-parent": context.workflowRunId }, retries: 0, retryDelay: "10",
    });
    return { body, isFailed, isCanceled, kind: typeof body };
  });

  // Invokes in invokes, and two in parallel.
  all.grandparent = define(async (context) => {
    const invoke = (name, x) => context.invoke(name, { workflow: all.parent, body: { x }, ...quick });
    const [a, b] = await Promise.all([invoke("a", 1), invoke("b", 10)]);
    const c = await invoke("c", a.body.body.twice + b.body.body.twice);
    return c.body.body.twice;
  });

  all.patient = define(async (context) => {
    const answer = await context.invoke("waiter", { workflow: all.waiter, workflowRunId: context.requestPayload.child, body: { event: context.requestPayload.event }, ...quick });
    return { isCanceled: answer.isCanceled, isFailed: answer.isFailed, body: answer.body ?? null };
  });

  all.flaky = define(async (context) => {
    const tries = await context.run("try", () => {
      const n = world.did(context, "try");
      world.fault(`flaky ${context.workflowRunId}`);
      return n;
    });
    return { tries, retried: context.retried ?? null };
  });

  const failure = async ({ context, failStatus, failResponse, failHeaders }) => {
    world.failed({ runId: context.workflowRunId, payload: context.requestPayload, failStatus, failResponse, user: context.headers.get("x-user"), headers: Object.keys(failHeaders ?? {}) });
    world.fault(`failure function ${context.workflowRunId}`);
    return "told";
  };

  all.failing = define(async (context) => {
    await step(context, "good", "g");
    await context.run("bad", () => {
      world.did(context, "bad");
      throw new Error("it is bad");
    });
  }, { retries: 1, retryDelay: "10", failureFunction: failure });

  all.final = define(async (context) => {
    await context.run("fatal", () => {
      world.did(context, "fatal");
      throw new WorkflowNonRetryableError("never again");
    });
  }, { failureFunction: failure });

  all.later = define(async (context) => {
    return await context.run("try", () => {
      const n = world.did(context, "try");
      if (n === 1) throw new WorkflowRetryAfterError("in a second", 1);
      return n;
    });
  }, { retryDelay: "600000" });

  all.unauthorized = define(async (context) => {
    if (context.headers.get("x-user") !== "ada") return;
    return await step(context, "secret", "open");
  }, { retries: 0 });

  // Fails in its third step while the world says so; what ran before must not run again
  // after a resume.
  all.mending = define(async (context) => {
    const name = context.requestPayload.name;
    const one = await step(context, "one", Math.random());
    const two = await step(context, "two", { one });
    const three = await context.run("three", () => {
      world.did(context, "three");
      world.fault(name);
      return two.one;
    });
    return { same: one === three };
  }, { retries: 0 });

  all.branches = define(async (context) => {
    const name = context.requestPayload.name;
    const results = await Promise.all([
      step(context, "left", "l"),
      context.run("middle", () => {
        world.did(context, "middle");
        world.fault(name);
        return "m";
      }),
      context.sleep("right", 1),
    ]);
    return results.slice(0, 2).join("");
  }, { retries: 0 });

  all.long = define(async (context) => {
    let sum = 0;
    for (let i = 1; i <= 60; i++) sum += await step(context, `step ${i}`, i);
    return sum;
  });

  all.large = define(async (context) => {
    // Not outside of a step: when the answer of a call comes, the payload is that answer.
    let total = await context.run("size", () => context.requestPayload.text.length);
    for (let i = 0; i < 5; i++) total += (await step(context, `large ${i}`, `${i}`.repeat(300_000))).length;
    const called = await context.call("echo", { url: `${world.base}/out/echo/large`, method: "POST", body: "y".repeat(400_000) });
    return { total, called: called.body.body.length };
  });

  // An answer of many megabytes, whole, and between steps that are small.
  all.huge = define(async (context) => {
    const { bytes } = context.requestPayload;
    await step(context, "before", 1);
    const { status, body } = await context.call("huge", { url: `${world.base}/out/huge/${bytes}`, retries: 3 });
    const sum = await context.run("sum", () => ({ status, length: body.text.length, end: body.end }));
    await step(context, "after", 2);
    return sum;
  });

  // A step whose error is long, or a called URL whose failure is.
  all.hugeError = define(async (context) => {
    const { bytes, called } = context.requestPayload;
    if (called) {
      const { status, body } = await context.call("failing", { url: `${world.base}/out/hugefailure/${bytes}`, retries: 0 });
      return await context.run("after", () => (world.did(context, "after"), { status, length: body.text.length }));
    }
    await context.run("failing", () => {
      world.did(context, "failing");
      throw new Error("x".repeat(bytes));
    });
  }, { retries: 0, failureFunction: failure });

  all.quitter = define(async (context) => {
    await step(context, "before", 1);
    await context.cancel();
    await step(context, "after", 2);
  });

  // Many small runs that share a flow-control key: never more than two at once.
  all.limited = define(async (context) => {
    await context.run("one", async () => {
      world.enter();
      await new Promise((done) => setTimeout(done, 50));
      world.leave();
    });
    return context.label ?? null;
  }, { flowControl: { key: "limited", parallelism: 2 } });

  return all;
};
