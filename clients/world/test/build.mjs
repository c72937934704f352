// Compiles the workflows of app/ with the published builder, as `workflow build` does: bundles under app/.well-known.
import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StandaloneBuilder } from "@workflow/builders";

const routes = "./.well-known/workflow/v1";

// digest is that of all workflows of a folder, and of the versions of the packages.
async function digest(workingDir) {
  const hash = createHash("sha256");
  const folder = join(workingDir, "workflows");
  const files = (await readdir(folder)).sort().map((name) => join(folder, name));
  for (const file of [...files, new URL("package-lock.json", import.meta.url)]) hash.update(await readFile(file));
  return hash.digest("hex");
}

// build compiles the workflows of a folder, unless they are compiled already: programs beside this one may be using the bundles.
export async function build(workingDir) {
  const [source, mark] = [await digest(workingDir), join(workingDir, ".well-known/source")];
  if ((await readFile(mark, "utf8").catch(() => "")) === source) return;
  await rm(join(workingDir, ".well-known"), { recursive: true, force: true });
  await new StandaloneBuilder({
    buildTarget: "standalone",
    dirs: ["."],
    workingDir,
    stepsBundlePath: `${routes}/step.cjs`,
    workflowsBundlePath: `${routes}/flow.cjs`,
    webhookBundlePath: `${routes}/webhook.mjs`,
    suppressCreateWorkflowsBundleLogs: true,
    suppressCreateWebhookBundleLogs: true,
    suppressCreateManifestLogs: true,
  }).build();
  await writeFile(mark, source);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(fileURLToPath(new URL("app", import.meta.url)));
