export async function commit(context, step, commands) {
  const out = await context.run(step, async () => {
    const made = typeof commands === "function" ? await commands() : commands;
    return Array.isArray(made) ? { svcCommit: made } : { svcCommit: made.commands, result: made.result };
  });
  return out.result;
}

export const commitAs = (user, token) => ({
  "Upstash-Commit-As": user,
  ...(token ? { "Upstash-Commit-Token": token } : {}),
});
