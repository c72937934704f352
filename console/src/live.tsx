import { useEffect, useRef, useState } from "preact/hooks";
import { Slow } from "./analysis/slow";
import { ApiError, database, enc, json, poll, run, show, signedIn, stream, strs } from "./api";
import { figure } from "./format";
import { query } from "./router";
import { Button, Choose, Field, Text } from "./ui/controls";
import { sure } from "./ui/dialogs";
import { A, Badge, Card, Empty, Note, Page, Tabs } from "./ui/layout";
import { Loaded, useLoad } from "./ui/load";
import { Table } from "./ui/table";
import { act } from "./ui/toasts";

export function Live() {
  const part = query.value.get("part") ?? "channels";
  return (
    <Page title="Live" sub={`What happens in database ${database.value}, as it happens`}>
      <Tabs
        now={part}
        to={(n) => ({ part: n, db: query.value.get("db") ?? undefined })}
        of={[
          ["channels", "Channels"],
          ["events", "Keyspace events"],
          ["monitor", "Monitor"],
          ["slow", "Slow log"],
          ...(signedIn().admin ? ([["clients", "Clients"]] as [string, string][]) : []),
        ]}
      />
      {part === "events" ? (
        <Events />
      ) : part === "monitor" ? (
        <Stream
          key="m"
          start="/monitor"
          help={
            "Every command that the gateways of all nodes execute in this database. " +
            "Values that may be secrets are left out."
          }
        />
      ) : part === "slow" ? (
        <Slow />
      ) : part === "clients" && signedIn().admin ? (
        <Clients />
      ) : (
        <Channels />
      )}
    </Page>
  );
}

const most = 500;

/** Stream shows the lines of a stream while the view is open. */
function Stream({ start, help, read = (s) => s }: { start: string; help: string; read?: (s: string) => string }) {
  const [lines, put] = useState<{ at: number; text: string }[]>([]);
  const [state, say] = useState("connecting");
  const [paused, pause] = useState(false);
  const [turn, again] = useState(0);
  const held = useRef<{ at: number; text: string }[]>([]),
    stopped = useRef(false);
  stopped.current = paused;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0,
      wait = 500;
    const go = async () => {
      say("connecting");
      try {
        const why = await stream(start, stop.signal, (text) => {
          say("open");
          wait = 500;
          held.current.push({ at: Date.now(), text: read(text) });
          if (held.current.length > most) held.current.shift();
        });
        say(why);
      } catch (e) {
        if (stop.signal.aborted) return;
        say((e as Error).message);
        if (e instanceof ApiError && e.status >= 400 && e.status < 500) return;
      }
      if (stop.signal.aborted) return;
      wait = Math.min(wait * 2, 10000);
      timer = window.setTimeout(go, wait);
    };
    go();
    const draw = setInterval(() => {
      if (!stopped.current && !document.hidden && held.current.length) {
        const more = held.current;
        held.current = [];
        put((l) => [...l, ...more].slice(-most));
      }
    }, 250);
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearInterval(draw);
    };
  }, [start, turn]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [lines]);
  return (
    <Card
      class="flush"
      title={<Badge tone={state === "open" ? "good" : state === "connecting" ? "info" : "warn"}>{state}</Badge>}
      acts={
        <>
          <Button kind="quiet" onClick={() => pause(!paused)}>
            {paused ? "Go on" : "Pause"}
          </Button>
          <Button kind="quiet" onClick={() => put([])}>
            Clear
          </Button>
          {state !== "open" && state !== "connecting" && (
            <Button kind="quiet" onClick={() => again(turn + 1)}>
              Connect
            </Button>
          )}
        </>
      }
    >
      <div class="lines" ref={box} role="log" aria-label="Lines" tabIndex={0}>
        {!lines.length && <p class="dim">{help}</p>}
        {lines.map((l, i) => (
          <div key={`${l.at}${i}`}>
            <span class="dim">{new Date(l.at).toLocaleTimeString()}</span> <bdi>{show(enc(l.text.slice(0, 4000)))}</bdi>
          </div>
        ))}
      </div>
    </Card>
  );
}

const encode = (s: string) => s.split(/\s+/).filter(Boolean).map(encodeURIComponent).join("/");

function Channels() {
  const [text, put] = useState(""),
    [kind, choose] = useState("psubscribe"),
    [on, start] = useState("");
  const [channel, to] = useState(""),
    [message, write] = useState("");
  const active = useLoad(async (p) => strs(await (p ? poll : run)("PUBSUB", "CHANNELS")), [database.value], 5000);
  return (
    <>
      <form
        class="filters"
        onSubmit={(e) => {
          e.preventDefault();
          start(`/${kind}/${encode(text)}`);
        }}
      >
        <Field label="Subscribe to">
          <Choose
            value={kind}
            onText={choose}
            of={[
              ["psubscribe", "Patterns"],
              ["subscribe", "Channels"],
            ]}
          />
        </Field>
        <Field label="Names, separated by blanks">
          <Text value={text} onText={put} placeholder="news.*" required />
        </Field>
        <Button type="submit" kind="main">
          Subscribe
        </Button>
        {on && <Button onClick={() => start("")}>Stop</Button>}
      </form>
      {on ? (
        <Stream key={on} start={on} help="Messages appear here." />
      ) : (
        <Card>
          <Empty icon="live" title="Not subscribed">
            What is published to a channel goes to those who listen at that moment, and is not kept. Subscribe above,
            then publish below. Channels that have subscribers now:{" "}
            {active.data?.length ? active.data.slice(0, 50).map(show).join(", ") : "none"}
          </Empty>
        </Card>
      )}
      <Card title="Publish">
        <form
          class="filters"
          onSubmit={async (e) => {
            e.preventDefault();
            await act("Published", () => run("PUBLISH", enc(channel), enc(message)));
          }}
        >
          <Field label="Channel">
            <Text value={channel} onText={to} required />
          </Field>
          <Field label="Message">
            <Text value={message} onText={write} />
          </Field>
          <Button type="submit">Publish</Button>
        </form>
      </Card>
    </>
  );
}

function Events() {
  const setting = useLoad(
    async () => strs(await run("CONFIG", "GET", "notify-keyspace-events"))[1] ?? "",
    [database.value],
  );
  return (
    <>
      <Loaded of={setting}>
        {(s) =>
          !s ? (
            <Note>
              Keyspace events are off in this database.{" "}
              <Button
                kind="quiet"
                onClick={() =>
                  sure({
                    title: "Turn on keyspace events",
                    verb: "Turn on",
                    done: "Keyspace events are on",
                    text: (
                      <p>
                        Every change of database {database.value} publishes its events then, on all nodes (
                        <code>notify-keyspace-events KEA</code>). It costs some time of every write.
                      </p>
                    ),
                    go: () => run("CONFIG", "SET", "notify-keyspace-events", "KEA").then(setting.again),
                  })
                }
              >
                Turn on
              </Button>
            </Note>
          ) : (
            <p class="dim">notify-keyspace-events is {s}</p>
          )
        }
      </Loaded>
      <Stream
        start={`/psubscribe/${encodeURIComponent("__keyevent@0__:*")}`}
        help="Each change appears as its event and its key."
        read={(s) => s.replace(/^pmessage,__keyevent@0__:\*,__keyevent@0__:/, "")}
      />
    </>
  );
}

type Client = {
  id: number;
  addr: string;
  name: string;
  database: string;
  user: string;
  command: string;
  ageSeconds: number;
  idleSeconds: number;
};
function Clients() {
  const clients = useLoad<{ clients: Client[] }>((p) => json("/admin/clients", { poll: p }), [], 3000);
  return (
    <Loaded
      of={clients}
      isEmpty={(d) => !d.clients.length}
      empty={
        <Card>
          <Empty icon="live" title="No client is connected">
            Connections of the RESP port of this node are listed here, those of every database.{" "}
            <A to="/connect" q={{ service: "Keyspace" }}>
              Variables and code for an app
            </A>
          </Empty>
        </Card>
      }
    >
      {(d) => (
        <Card class="flush">
          <Table
            label="Clients"
            rows={d.clients}
            id={(r) => String(r.id)}
            columns={[
              { name: "Id", class: "num", of: (r) => r.id },
              { name: "Address", of: (r) => r.addr },
              { name: "Name", of: (r) => <bdi>{show(enc(r.name)) || "–"}</bdi> },
              { name: "Database", of: (r) => r.database },
              { name: "User", of: (r) => <bdi>{show(enc(r.user)) || "–"}</bdi> },
              { name: "Age", class: "num", of: (r) => figure("/admin/clients", "ageSeconds", r.ageSeconds) },
              { name: "Idle", class: "num", of: (r) => figure("/admin/clients", "idleSeconds", r.idleSeconds) },
              { name: "Last command", of: (r) => r.command },
              {
                name: "-Actions",
                class: "acts-cell",
                of: (r) => (
                  <Button
                    kind="quiet"
                    class="bad"
                    onClick={() =>
                      sure({
                        title: `Kill connection ${r.id}`,
                        text: <p>The connection from {r.addr} is closed. Its client may connect again.</p>,
                        verb: "Kill",
                        done: "Killed",
                        go: () => json(`/admin/clients/${r.id}`, { method: "DELETE" }).then(clients.again),
                      })
                    }
                  >
                    Kill
                  </Button>
                ),
              },
            ]}
          />
        </Card>
      )}
    </Loaded>
  );
}
