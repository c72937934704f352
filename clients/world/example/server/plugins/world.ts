// Starts what the world does in the background. Trireme pushes to the application, so there is nothing; other worlds need it.
import { definePlugin } from "nitro";
import { getWorld } from "workflow/runtime";

export default definePlugin(async () => {
  await getWorld().start?.();
});
