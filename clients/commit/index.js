export async function commit(context, step, commands) {
  const out = await context.run(step, async () => {
    const made = typeof commands === "function" ? await commands() : commands;
    if (Array.isArray(made)) return { svcCommit: made };
    return { svcCommit: made.commands, svcState: made.state, svcUpdates: made.updates, result: made.result };
  });
  return out.result;
}

export const setState = (context, step, state, updates) =>
  commit(context, step, async () => ({ state: (typeof state === "function" ? await state() : state) ?? null, updates }));

export const commitAs = (user, token) => ({
  "Upstash-Commit-As": user,
  ...(token ? { "Upstash-Commit-Token": token } : {}),
});

export const keepEvents = (...names) => ({ "Upstash-Keep-Events": names.join(",") });

export const acceptUpdates = (rules) => ({ "Upstash-Updates": JSON.stringify(rules) });
