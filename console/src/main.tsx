import "uplot/dist/uPlot.min.css";
import "./app.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Access } from "./access/access";
import { asked, base, database, enc, ended, json, sentence, show, type Who, who } from "./api";
import { CommandLine } from "./cli";
import { Audit, Cluster } from "./cluster";
import { Data } from "./data/data";
import { enter } from "./enter";
import { Live } from "./live";
import { DeadLetters } from "./messages/dead";
import { FlowControl } from "./messages/flow";
import { Groups } from "./messages/groups";
import { SigningKeys } from "./messages/keys";
import { Messages } from "./messages/messages";
import { Queues } from "./messages/queues";
import { Schedules } from "./messages/schedules";
import { Overview } from "./overview";
import { click, go, href, path, set } from "./router";
import { Runs } from "./runs/runs";
import { SignIn } from "./signin";
import { theme } from "./ui/charts";
import { IconButton } from "./ui/controls";
import { ShownOnce, Sure } from "./ui/dialogs";
import { Icon } from "./ui/icons";
import { Empty, Page } from "./ui/layout";
import { toast, toasts } from "./ui/toasts";

type View = { path: string; name: string; icon: string; may: (w: Who) => boolean; show: () => preact.JSX.Element };
const keyspace = (w: Who) => w.keyspace,
  messages = (w: Who) => w.messages !== "",
  admin = (w: Who) => w.admin;
const groups: [string, View[]][] = [
  ["", [{ path: "/", name: "Overview", icon: "overview", may: () => true, show: Overview }]],
  [
    "Keyspace",
    [
      { path: "/data", name: "Data", icon: "data", may: keyspace, show: Data },
      { path: "/cli", name: "Command line", icon: "cli", may: keyspace, show: CommandLine },
      { path: "/live", name: "Live", icon: "live", may: keyspace, show: Live },
    ],
  ],
  [
    "Messages",
    [
      { path: "/messages", name: "Messages", icon: "messages", may: messages, show: Messages },
      { path: "/dead", name: "Dead letters", icon: "dead", may: messages, show: DeadLetters },
      { path: "/queues", name: "Queues", icon: "queues", may: messages, show: Queues },
      { path: "/flow", name: "Flow control", icon: "flow", may: messages, show: FlowControl },
      { path: "/schedules", name: "Schedules", icon: "schedules", may: messages, show: Schedules },
      { path: "/groups", name: "URL groups", icon: "groups", may: messages, show: Groups },
      { path: "/keys", name: "Signing keys", icon: "keys", may: messages, show: SigningKeys },
    ],
  ],
  ["Workflows", [{ path: "/runs", name: "Runs", icon: "runs", may: messages, show: Runs }]],
  [
    "Operations",
    [
      { path: "/cluster", name: "Cluster", icon: "cluster", may: admin, show: Cluster },
      { path: "/access", name: "Access", icon: "access", may: (w) => w.admin || w.keyspace, show: Access },
      { path: "/audit", name: "Audit log", icon: "audit", may: admin, show: Audit },
    ],
  ],
];
const views = groups.flatMap(([, list]) => list);

const themes = ["system", "light", "dark"];
function paint() {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem("trireme-theme", theme.value);
}
paint();

function Shell({ me }: { me: Who }) {
  const [open, put] = useState(false);
  const now =
    views.find((v) => v.path !== "/" && (path.value === v.path || path.value.startsWith(`${v.path}/`))) ?? views[0];
  const known = path.value === "/" || now.path !== "/";
  useEffect(() => put(false), [path.value]);
  const Show = now.show;
  const allowed = now.may(me);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is clicked are the links in it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div class="shell" onClick={click}>
      <a class="skip" href="#main">
        Skip to the view
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
            icon={theme.value === "dark" ? "moon" : "sun"}
            label={`Theme: ${theme.value}`}
            onClick={() => {
              theme.value = themes[(themes.indexOf(theme.value) + 1) % 3];
              paint();
            }}
          />
          <IconButton icon="out" label="Sign out" onClick={signOut} />
        </footer>
      </aside>
      <main id="main" tabIndex={-1}>
        {!known ? (
          <Page title="Not found">
            <Empty
              title="There is no such view"
              act={
                <a class="button" href={href("/")}>
                  To the overview
                </a>
              }
            >
              The address may be of another version.
            </Empty>
          </Page>
        ) : allowed ? (
          <Show key={now.path} />
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
      {me && <Sure />}
      <ShownOnce />
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map((t) => (
          <div key={t.id} class={`toast ${t.kind}`}>
            <Icon name={t.kind === "good" ? "check" : "alert"} />
            {t.text}
          </div>
        ))}
      </div>
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

render(<App />, document.getElementById("app") ?? document.body);
