// Builds dist from src: CommonJS, which the SDK's runtime loads, and ES modules beside it.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
for (const config of ["tsconfig.json", "tsconfig.esm.json"]) execFileSync("node_modules/.bin/tsc", ["-p", config], { stdio: "inherit" });
writeFileSync("dist/esm/package.json", '{"type": "module"}\n');
