import { defineConfig } from "vitest/config";

// The examples import the package by its name, as its users do.
export default defineConfig({
  resolve: { alias: { "trireme-testkit": new URL("src/index.ts", import.meta.url).pathname } },
  test: { include: ["examples/**/*.test.ts"], testTimeout: 300_000, hookTimeout: 300_000 },
});
