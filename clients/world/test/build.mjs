// Compiles the workflows of app/ with the published builder, as `workflow build` does: bundles under app/.well-known.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StandaloneBuilder } from "@workflow/builders";

const routes = "./.well-known/workflow/v1";

// build compiles the workflows below a folder.
export async function build(workingDir) {
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
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build(fileURLToPath(new URL("app", import.meta.url)));
