import "./app.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asked, base, database, enc, ended, json, sentence, show, type Who, who } from "./api";
import { enter } from "./enter";
import { times } from "./format";
import { Shortcuts } from "./palette/shortcuts";
import { click, go, href, path, set } from "./router";
import { SignIn } from "./signin";
import { IconButton } from "./ui/controls";
import { ShownOnce, Sure } from "./ui/dialogs";
import { Icon } from "./ui/icons";
import { Empty, Page } from "./ui/layout";
import { Opened } from "./ui/opened";
import { dense } from "./ui/table";
import { nextTheme, shade, theme } from "./ui/theme";
import { nextTimes } from "./ui/time";
import { Toasts } from "./ui/toasted";
import { toast } from "./ui/toasts";
import { groups, views } from "./views";

function Shell({ me }: { me: Who }) {
  const [open, put] = useState(false);
  const now =
    views.find((v) => v.path !== "/" && (path.value === v.path || path.value.startsWith(`${v.path}/`))) ?? views[0];
  const known = path.value === "/" || now.path !== "/";
  useEffect(() => put(false), [path.value]);
  const allowed = now.may(me);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is clicked are the links in it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div class="shell" onClick={click}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <IconButton icon="menu" label="Menu" aria-expanded={open} aria-controls="menu" onClick={() => put(!open)} />
        <a href={href("/")} class="brand">
          <img src="icon.svg" alt="" width="24" height="24" /> Trireme
        </a>
      </header>
      <aside id="menu" class={open ? "side open" : "side"}>
        <a href={href("/")} class="brand">
          <img src="icon.svg" alt="" width="26" height="26" /> Trireme
        </a>
        <button
          type="button"
          class="find"
          aria-keyshortcuts="Control+K"
          onClick={() => dispatchEvent(new Event("palette"))}
        >
          Go to <kbd>Ctrl K</kbd>
        </button>
        <Databases me={me} />
        <nav aria-label="Views">
          {groups.map(([name, list]) => {
            const mine = list.filter((v) => v.may(me));
            return mine.length ? (
              <div key={name} class="nav-group">
                {name && <h2>{name}</h2>}
                {mine.map((v) => (
                  <a key={v.path} href={href(v.path)} aria-current={v === now ? "page" : undefined}>
                    <Icon name={v.icon} />
                    {v.name}
                  </a>
                ))}
              </div>
            ) : null;
          })}
        </nav>
        <footer>
          <div class="me">
            <b>{me.person ? show(enc(me.person)) : me.name}</b>
            <small>
              {me.person && `${me.name}, `}
              {me.admin ? "every database" : me.keyspace ? `database ${me.database}` : "messages and runs"}
            </small>
          </div>
          <IconButton
            icon={shade.value === "dark" ? "moon" : "sun"}
            label={`Theme: ${theme.value}`}
            onClick={nextTheme}
          />
          <IconButton
            icon="queues"
            label={`Rows: ${dense.value ? "dense" : "roomy"}`}
            onClick={() => {
              dense.value = !dense.value;
            }}
          />
          <IconButton icon="schedules" label={`Times: ${times.value}`} onClick={nextTimes} />
          <IconButton icon="out" label="Sign out" onClick={signOut} />
        </footer>
      </aside>
      <main id="main" tabIndex={-1}>
        {!known ? (
          <Page title="Not found">
            <Empty
              title="View not found"
              act={
                <a class="button" href={href("/")}>
                  Go to the overview
                </a>
              }
            >
              The address may belong to another version.
            </Empty>
          </Page>
        ) : allowed ? (
          <Opened view={now} key={now.path} />
        ) : (
          <Page title={now.name}>
            <Empty icon="lock" title="Your credential does not open this">
              Sign in with another one to see {now.name.toLowerCase()}.
            </Empty>
          </Page>
        )}
      </main>
    </div>
  );
}

function Databases({ me }: { me: Who }) {
  const [names, put] = useState<string[]>([]);
  const [more, tell] = useState(false); // than are offered
  useEffect(() => {
    if (me.admin)
      json<{ databases: { name: string }[]; cursor?: string }>("/admin/databases?count=100", { poll: true }).then(
        (r) => {
          put(r.databases.map((d) => d.name));
          tell(!!r.cursor);
        },
        () => {},
      );
  }, [me, path.value === "/data"]);
  const choose = (name: string) => {
    database.value = name;
    if (path.value.startsWith("/data")) go("/data", { db: name });
    else set({ db: name });
  };
  if (!me.keyspace || names.length < 2) return null;
  if (more)
    return (
      <label class="database">
        <span>Database</span>
        <input list="databases" value={database.value} onChange={(e) => choose(e.currentTarget.value || "default")} />
        <datalist id="databases">
          {names.map((n) => (
            <option key={n} value={n} />
          ))}
        </datalist>
      </label>
    );
  return (
    <label class="database">
      <span>Database</span>
      <select value={database.value} onChange={(e) => choose(e.currentTarget.value)}>
        {names.map((n) => (
          <option key={n}>{n}</option>
        ))}
      </select>
    </label>
  );
}

async function signOut() {
  const r = await fetch(`${base}/session`, { method: "DELETE", headers: asked, credentials: "same-origin" }).catch(
    () => null,
  );
  if (r?.ok) {
    ended.value = "";
    who.value = null;
    return;
  }
  toast("The cluster can't end the session now. Try again.", "bad");
}

function App() {
  useEffect(() => {
    start();
  }, []);
  const me = who.value;
  return (
    <>
      {me === undefined ? (
        <div class="boot" role="status">
          <span class="spin" aria-hidden="true" />
          <span class="sr">Loading</span>
        </div>
      ) : me === null ? (
        <SignIn />
      ) : (
        <Shell key={me.session} me={me} />
      )}
      {me && <Shortcuts me={me} act={(name) => (name === "out" ? signOut() : nextTheme())} />}
      {me && <Sure />}
      <ShownOnce />
      <Toasts />
    </>
  );
}

/** start learns who is signed in; a link of `trireme dev` signs in by itself. */
async function start() {
  const key = /^#enter=([\w-]+)$/.exec(location.hash)?.[1];
  if (key) {
    history.replaceState(null, "", location.pathname + location.search);
    const r = await fetch(`${base}/session`, {
      method: "POST",
      headers: { ...asked, "Content-Type": "application/json" },
      body: JSON.stringify({ link: key }),
    }).catch(() => null);
    if (r?.ok) return enter(await r.json());
  }
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    const r = await fetch(`${base}/session`, { headers: asked, cache: "no-store" }).catch(() => null);
    if (r?.status === 204) {
      const why = r.headers.get("X-Console-Ended");
      ended.value = why !== null ? sentence(why) : "";
      who.value = null;
      return;
    }
    if (r?.ok) return enter(await r.json());
    await new Promise((go) => setTimeout(go, wait)); // no leader yet, or the node is away
  }
}

if (DEVELOPMENT) new EventSource("changes").addEventListener("message", () => location.reload());
render(<App />, document.getElementById("app") ?? document.body);
