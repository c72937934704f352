import { useEffect, useState } from "preact/hooks";
import { asked, base, ended } from "./api";
import { enter } from "./enter";
import { Button, Field, Text } from "./ui/controls";
import { Note } from "./ui/layout";

/** What can be wrong with a sign-in at an identity provider, by the fragment of the URL that the node redirects to. */
const failures: Record<string, string> = {
  denied: "The identity provider has not signed you in.",
  state: "This sign-in was not begun in this browser, or too long ago. Try again.",
  refused: "The answer of the identity provider is not valid. The node's log says why.",
  role: "You have signed in, but none of your groups has a role here.",
  credential: "Your role has no credential in this cluster: its token, user or database is missing.",
  unavailable: "The identity provider or the cluster can't be reached now. Try again.",
  busy: "Too many sign-ins from this address have failed. Wait a little.",
};
const failure = () => failures[/^#sign-in=(\w+)$/.exec(location.hash)?.[1] ?? ""] ?? "";

export function SignIn() {
  const [as, choose] = useState<"token" | "user">("token");
  const [form, put] = useState({ token: "", user: "", password: "", database: "" });
  const [error, say] = useState(failure);
  const [busy, wait] = useState(false);
  useEffect(() => {
    document.title = "Sign in · Trireme";
    if (failure()) history.replaceState(null, "", location.pathname + location.search);
  }, []);
  const single = document.documentElement.dataset.signOn === "true";
  const next = location.pathname.slice(base.length) + location.search;
  const field = (name: keyof typeof form) => (text: string) => put((f) => ({ ...f, [name]: text }));
  const submit = async (e: Event) => {
    e.preventDefault();
    wait(true);
    say("");
    const data =
      as === "token"
        ? { token: form.token.trim(), database: form.database }
        : { user: form.user, password: form.password, database: form.database };
    try {
      const r = await fetch(`${base}/session`, {
        method: "POST",
        headers: { ...asked, "Content-Type": "application/json" },
        body: JSON.stringify(data),
      });
      const body = await r.json().catch(() => ({}));
      if (r.ok) enter(body);
      else say(body.error ?? `Signing in has failed (${r.status})`);
    } catch {
      say("This node does not answer.");
    }
    wait(false);
  };
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <img src="icon.svg" alt="" width="44" height="44" />
        <h1>Sign in to Trireme</h1>
        <p>The console can do what your credential may do, and nothing more.</p>
        {single && (
          <>
            <a class="button main wide" href={`${base}/oidc/start?next=${encodeURIComponent(next)}`}>
              Single sign-on
            </a>
            <p class="or">or with a credential of Trireme</p>
          </>
        )}
        <div class="segments" role="group" aria-label="Sign in with">
          <button type="button" aria-pressed={as === "token"} onClick={() => choose("token")}>
            Token
          </button>
          <button type="button" aria-pressed={as === "user"} onClick={() => choose("user")}>
            ACL user
          </button>
        </div>
        <form onSubmit={submit}>
          {as === "token" ? (
            <Field label="Token" help="Admin, database, read-only or messages token">
              <Text
                type="password"
                autoComplete="current-password"
                required
                value={form.token}
                onText={field("token")}
                autoFocus
                name="token"
              />
            </Field>
          ) : (
            <>
              <Field label="User">
                <Text required autoComplete="username" value={form.user} onText={field("user")} name="user" />
              </Field>
              <Field label="Password">
                <Text
                  type="password"
                  autoComplete="current-password"
                  value={form.password}
                  onText={field("password")}
                  name="password"
                />
              </Field>
              <Field label="Database" help="Empty: the credential chooses">
                <Text value={form.database} onText={field("database")} name="database" />
              </Field>
            </>
          )}
          {error ? (
            <Note kind="bad">{error}</Note>
          ) : (
            ended.value && <Note kind="warn">{ended.value} Sign in again.</Note>
          )}
          <Button type="submit" kind="main" busy={busy}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
