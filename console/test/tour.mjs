// Draws docs/images/tour.svg: two minutes in a terminal, from a node that runs. TRIREME is the binary.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { animate } from "./cast.mjs";

const binary = process.env.TRIREME,
  file = process.argv[2],
  sh = promisify(execFile);

/** begin starts the demo, and gives what it prints. A port that is in use is left to the others. */
async function begin() {
  for (const port of [8080, 8090, 18080]) {
    const node = spawn(binary, ["dev", "--memory", "--demo", "--resp", "off", "--port", String(port)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let out = "";
    const ready = await new Promise((done) => {
      node.stdout.on("data", (b) => {
        out += b;
        if (/#enter=\S+\n/.test(out)) done(true);
      });
      node.on("exit", () => done(false));
    });
    if (ready) return { node, out };
  }
  throw new Error("no port is free for the demo");
}

/** secret shortens what signs in: it is of a node that is gone, and long. */
const secret = (text) => text.replace(/((?:TOKEN|KEY)=|#enter=)(\S{6})\S+/g, "$1$2…");

const { node, out } = await begin();
try {
  const env = { ...process.env };
  for (const [, name, value] of out.matchAll(/^([A-Z_]+)=(.*)$/gm)) env[name] = value;
  const shop = /A demo shop at (\S+)/.exec(out)[1];
  const scenes = [{ command: "trireme dev --memory --demo", output: secret(out.trim()), rest: 9 }];
  /** type runs a command as a shell does, and keeps what it prints. */
  const type = async (command, rest, until) => {
    const line = command.replace(/\btrireme (\w+)/g, '"$BINARY" $1 --color always');
    for (;;) {
      const { stdout } = await sh("bash", ["-c", line], { env: { ...env, BINARY: binary } });
      if (until && !until.test(stdout)) {
        await new Promise((go) => setTimeout(go, 200));
        continue;
      }
      scenes.push({ command, output: stdout.trimEnd(), rest });
      return stdout;
    }
  };
  const curl = 'curl -s -H "Authorization: Bearer $UPSTASH_REDIS_REST_TOKEN"';
  await type(`${curl} $TRIREME_URL/set/greeting/ahoy`, 4);
  await type(`${curl} $TRIREME_URL/get/greeting`, 4);
  const order = `'{"order":4708,"customer":"you"}'`;
  const published = await type(
    `trireme messages publish ${shop}/orders ${order} --label yours --retries 2 --retry-delay 3000`,
    5,
  );
  const id = /msg_\w+/.exec(published)[0];
  await type(`trireme messages explain ${id}`, 14, /backoff|retry/i);
  await type(`trireme messages get ${id}`, 16, /FAILED/);
  await type("trireme dlq causes", 8);
  await type("trireme runs list --label checkout --limit 6", 9);
  await type("trireme runs get checkout-4703", 20, /RUN_SUCCESS/);
  await type("trireme runs get onboarding-4704", 16, /RUN_FAILED/);
  const svg = animate(scenes, "Two minutes of Trireme in a terminal");
  assert.ok(svg.length < 400_000, `the tour has ${svg.length} bytes`);
  writeFileSync(file, svg);
  console.log(`${file}: ${scenes.length} scenes, ${svg.length} bytes`);
} finally {
  node.removeAllListeners("exit");
  const over = new Promise((done) => node.on("exit", done));
  node.kill("SIGINT");
  await over;
}
