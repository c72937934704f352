import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, database, enc, list, num, pipeline, run, show, str, strs, utf8 } from "./api";
import { Editor } from "./editors";
import { bytes, count, figure, things } from "./format";
import { go, path, query } from "./router";
import {
  A,
  Area,
  act,
  Badge,
  Button,
  Card,
  Choose,
  Dialog,
  Empty,
  Failed,
  Field,
  Icon,
  Loaded,
  Note,
  Page,
  sure,
  Table,
  Text,
  toast,
  useLoad,
} from "./ui";

const types = ["string", "hash", "list", "set", "zset", "stream", "ReJSON-RL"];
export const typeName = (t: string) => (t === "ReJSON-RL" ? "JSON" : t === "zset" ? "sorted set" : t);
const page = 300;
const join = ":";

/** A key stands in a URL by its bytes. */
export function keyQuery(key: string) {
  const text = utf8(key);
  return text !== null ? { key: text } : { bytes: btoa(key) };
}
export function keyOf(q: URLSearchParams): string | undefined {
  const bytes = q.get("bytes"),
    text = q.get("key");
  return bytes !== null ? atob(bytes) : text !== null ? enc(text) : undefined;
}
const glob = (b: string) => b.replace(/[\\*?[\]]/g, (c) => `\\${c}`);

type Scan = { keys: string[]; cursor: string; seen: number };

/** more goes on with a scan until it has found a page of keys, or has looked long enough. */
async function more(was: Scan | undefined, match: string, type: string, until: number): Promise<Scan> {
  const found = new Set(was?.keys);
  let cursor = was?.cursor ?? "0",
    rounds = 0;
  do {
    const argv = ["SCAN", cursor, "MATCH", match || "*", "COUNT", "1000"];
    if (type) argv.push("TYPE", type);
    const [next, keys] = list(await run(...argv));
    cursor = str(next);
    for (const k of strs(keys)) found.add(k);
  } while (cursor !== "0" && found.size < until && ++rounds < 30);
  return { keys: [...found].sort(), cursor, seen: (was?.seen ?? 0) + rounds };
}

export function Data() {
  const q = query.value,
    db = database.value;
  const prefix = enc(q.get("prefix") ?? ""),
    pattern = enc(q.get("match") ?? ""),
    type = q.get("type") ?? "";
  const key = keyOf(q);
  const [scan, put] = useState<Scan | undefined>();
  const [error, fail] = useState<ApiError | undefined>();
  const [busy, wait] = useState(false);
  const [creating, create] = useState(false);
  const [biggest, big] = useState(false);
  const turn = useRef(0);
  const size = useLoad(async () => num(await run("DBSIZE")), [db]);
  const match = pattern ? (/[*?[]/.test(pattern) ? pattern : `*${pattern}*`) : `${glob(prefix)}*`;
  const load = async (from?: Scan) => {
    const mine = ++turn.current;
    wait(true);
    fail(undefined);
    try {
      const s = await more(from, match, type, (from?.keys.length ?? 0) + page);
      if (mine === turn.current) put(s);
    } catch (e) {
      if (mine === turn.current) fail(e as ApiError);
    }
    if (mine === turn.current) wait(false);
  };
  useEffect(() => {
    put(undefined);
    load();
  }, [match, type, db]);
  const reload = () => {
    load();
    size.again();
  };
  const keep = (more: Record<string, string | undefined>) => ({
    ...Object.fromEntries([...q].filter(([n]) => n !== "key" && n !== "bytes")),
    ...more,
  });

  return (
    <Page
      title="Data"
      sub={size.data === undefined ? `Database ${db}` : `${things(size.data, "key")} in database ${db}`}
      acts={
        <>
          <Button onClick={() => big(true)}>Biggest keys</Button>
          <Button kind="main" icon="plus" onClick={() => create(true)}>
            New key
          </Button>
        </>
      }
    >
      <Filters
        pattern={q.get("match") ?? ""}
        type={type}
        set={(m) =>
          go("/data", {
            db: q.get("db") ?? undefined,
            prefix: q.get("prefix") ?? undefined,
            type: type || undefined,
            match: q.get("match") ?? undefined,
            ...m,
          })
        }
      />
      <div class="cols">
        <Card class="flush">
          {!pattern && <Crumbs prefix={prefix} to={(p) => keep({ prefix: show(p) || undefined })} />}
          {error ? (
            <Failed error={error} again={() => load()} />
          ) : !scan ? (
            <div class="loading" role="status">
              <span class="spin" aria-hidden="true" /> Scanning
            </div>
          ) : scan.keys.length ? (
            <Tree keys={scan.keys} prefix={pattern ? "" : prefix} flat={!!pattern} now={key} to={keep} />
          ) : (
            <Empty
              icon="data"
              title={
                scan.cursor === "0"
                  ? pattern || prefix || type
                    ? "No key matches"
                    : "This database is empty"
                  : "Nothing found so far"
              }
            >
              {!pattern && !prefix && !type ? "Write the first key here, or with any client." : undefined}
            </Empty>
          )}
          {scan && (
            <div class="tree-foot">
              <span>
                {things(scan.keys.length, "key")}
                {scan.cursor === "0" ? ", all of them" : " so far"}
              </span>
              {scan.cursor !== "0" && (
                <Button kind="quiet" busy={busy} onClick={() => load(scan)}>
                  Scan on
                </Button>
              )}
              {(prefix || pattern) && scan.keys.length > 0 && (
                <Button kind="quiet" class="bad" onClick={() => deleteMany(match, pattern ? pattern : prefix, reload)}>
                  Delete all that match
                </Button>
              )}
            </div>
          )}
        </Card>
        {key !== undefined ? (
          <Key
            key={db + key}
            name={key}
            gone={() => {
              go("/data", keep({}), true);
              reload();
            }}
            renamed={(k) => {
              go("/data", keep(keyQuery(k)), true);
              reload();
            }}
          />
        ) : (
          <Card>
            <Empty icon="data" title="Choose a key">
              Its value, its expiry and what it takes of memory are shown here.
            </Empty>
          </Card>
        )}
      </div>
      {creating && (
        <Create
          close={() => create(false)}
          done={(k) => {
            create(false);
            reload();
            go("/data", keep(keyQuery(k)));
          }}
          prefix={q.get("prefix") ?? ""}
        />
      )}
      {biggest && <Biggest close={() => big(false)} match={match} />}
    </Page>
  );
}

function Filters({
  pattern,
  type,
  set,
}: {
  pattern: string;
  type: string;
  set: (m: Record<string, string | undefined>) => void;
}) {
  const [text, put] = useState(pattern);
  useEffect(() => put(pattern), [pattern]);
  return (
    <form
      class="filters"
      onSubmit={(e) => {
        e.preventDefault();
        set({ match: text || undefined });
      }}
    >
      <Field label="Pattern">
        <Text
          type="search"
          value={text}
          onText={(t) => {
            put(t);
            if (!t) set({ match: undefined });
          }}
          placeholder="user:* or a part of the name"
        />
      </Field>
      <Field label="Type">
        <Choose
          value={type}
          of={[["", "Every type"], ...types.map((t) => [t, typeName(t)] as [string, string])]}
          onText={(t) => set({ type: t || undefined })}
        />
      </Field>
      <Button type="submit">Find</Button>
    </form>
  );
}

function Crumbs({ prefix, to }: { prefix: string; to: (p: string) => Record<string, string | undefined> }) {
  const parts = prefix.split(join).slice(0, -1);
  return (
    <nav class="crumbs" aria-label="Prefix">
      <A to="/data" q={to("")}>
        all keys
      </A>
      {parts.map((p, i) => (
        <span key={i}>
          <span class="dim"> / </span>
          <A to="/data" q={to(parts.slice(0, i + 1).join(join) + join)}>
            <bdi>{show(p) || "(empty)"}</bdi>
          </A>
        </span>
      ))}
    </nav>
  );
}

function Tree({
  keys,
  prefix,
  flat,
  now,
  to,
}: {
  keys: string[];
  prefix: string;
  flat: boolean;
  now?: string;
  to: (m: Record<string, string | undefined>) => Record<string, string | undefined>;
}) {
  const folders = new Map<string, number>(),
    leaves: string[] = [];
  for (const k of keys) {
    const cut = flat ? -1 : k.indexOf(join, prefix.length);
    if (cut < 0 || cut === k.length - 1) leaves.push(k);
    else folders.set(k.slice(0, cut + 1), (folders.get(k.slice(0, cut + 1)) ?? 0) + 1);
  }
  // A folder of one key is that key.
  for (const [f, n] of folders)
    if (n === 1) {
      folders.delete(f);
      const only = keys.find((k) => k.startsWith(f));
      if (only !== undefined) leaves.push(only);
    }
  leaves.sort();
  return (
    <div class="tree">
      {[...folders].sort().map(([f, n]) => {
        const text = utf8(f);
        return text === null ? null : (
          <A key={f} to="/data" q={to({ prefix: text })}>
            <Icon name="folder" />
            <span class="name">
              <bdi>{show(f.slice(prefix.length))}</bdi>
            </span>
            <small>{count(n)}</small>
          </A>
        );
      })}
      {leaves.map((k) => (
        <A
          key={k}
          to="/data"
          q={to(keyQuery(k))}
          aria-current={k === now ? "true" : undefined}
          title={show(k).slice(0, 300)}
        >
          <Icon name="key" />
          <span class="name">
            <bdi>{show(k.slice(prefix.length)).slice(0, 300) || "(empty)"}</bdi>
          </span>
        </A>
      ))}
    </div>
  );
}

export type KeyInfo = { type: string; ttl: number; size: number; encoding: string };

function Key({ name, gone, renamed }: { name: string; gone: () => void; renamed: (k: string) => void }) {
  const info = useLoad<KeyInfo | null>(async () => {
    const [type, ttl, size, encoding] = await pipeline([
      ["TYPE", name],
      ["PTTL", name],
      ["MEMORY", "USAGE", name],
      ["OBJECT", "ENCODING", name],
    ]);
    if (type.t === "err") throw new ApiError(400, type.v);
    return str(type) === "none"
      ? null
      : { type: str(type), ttl: num(ttl), size: num(size), encoding: encoding.t === "err" ? "" : str(encoding) };
  }, [name]);
  const [ask, open] = useState<"" | "rename" | "expire">("");
  return (
    <Card>
      <Loaded
        of={info}
        isEmpty={(d) => d === null}
        empty={
          <Empty icon="data" title="There is no such key">
            <bdi>{show(name)}</bdi> was deleted, or has expired.
          </Empty>
        }
      >
        {(d) =>
          d && (
            <>
              <header class="page-head">
                <div>
                  <div class="key-name">
                    <bdi>{show(name)}</bdi>
                  </div>
                  <p>
                    <Badge tone="info">{typeName(d.type)}</Badge> {d.encoding && <span>{d.encoding} · </span>}
                    {bytes(d.size)} · {d.ttl < 0 ? "does not expire" : `expires in ${figure("PTTL", "ttl", d.ttl)}`}
                  </p>
                </div>
                <div class="acts">
                  <Button kind="quiet" icon="refresh" onClick={info.again}>
                    Reload
                  </Button>
                  <Button kind="quiet" onClick={() => open("expire")}>
                    Expiry
                  </Button>
                  <Button kind="quiet" onClick={() => open("rename")}>
                    Rename
                  </Button>
                  <Button
                    kind="quiet"
                    class="bad"
                    icon="trash"
                    onClick={() =>
                      sure({
                        title: "Delete this key",
                        name,
                        text: (
                          <p>
                            The key and its value ({typeName(d.type)}, {bytes(d.size)}) are deleted from database{" "}
                            {database.value} on all nodes.
                          </p>
                        ),
                        verb: "Delete",
                        done: "Deleted",
                        go: () => run("UNLINK", name).then(gone),
                      })
                    }
                  >
                    Delete
                  </Button>
                </div>
              </header>
              <Editor key={d.type} name={name} info={d} changed={info.again} gone={gone} />
            </>
          )
        }
      </Loaded>
      {ask === "rename" && <Rename name={name} close={() => open("")} done={renamed} />}
      {ask === "expire" && <Expire name={name} ttl={info.data?.ttl ?? -1} close={() => open("")} done={info.again} />}
    </Card>
  );
}

function Rename({ name, close, done }: { name: string; close: () => void; done: (k: string) => void }) {
  const [to, put] = useState(utf8(name) ?? "");
  return (
    <Dialog title="Rename the key" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          try {
            const r = await run("RENAMENX", name, enc(to));
            if (num(r)) {
              toast("Renamed");
              close();
              done(enc(to));
            } else toast("There is a key of that name: delete it first", "bad");
          } catch (x) {
            toast((x as Error).message, "bad");
          }
        }}
      >
        <Field label="New name" help="A key that is there already is not overwritten">
          <Text value={to} onText={put} required />
        </Field>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Rename
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Expire({ name, ttl, close, done }: { name: string; ttl: number; close: () => void; done: () => void }) {
  const [secs, put] = useState(ttl > 0 ? String(Math.ceil(ttl / 1000)) : "3600");
  return (
    <Dialog title="Expiry" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("The expiry is set", () => run("EXPIRE", name, secs))) {
            close();
            done();
          }
        }}
      >
        <Field label="Seconds from now">
          <Text type="number" min="1" value={secs} onText={put} required />
        </Field>
        <footer>
          {ttl > 0 && (
            <Button
              onClick={async () => {
                if (await act("The key does not expire any more", () => run("PERSIST", name))) {
                  close();
                  done();
                }
              }}
            >
              Never expire
            </Button>
          )}
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Set
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const first: Record<string, { label: string; start: string; make: (key: string, text: string) => string[][] }> = {
  string: { label: "Value", start: "", make: (k, t) => [["SET", k, enc(t), "NX"]] },
  "ReJSON-RL": { label: "JSON", start: "{}", make: (k, t) => [["JSON.SET", k, "$", enc(t), "NX"]] },
  hash: {
    label: "Fields, a line of name=value each",
    start: "field=value",
    make: (k, t) => [
      [
        "HSET",
        k,
        ...t
          .split("\n")
          .filter(Boolean)
          .flatMap((l) => {
            const [n, ...v] = l.split("=");
            return [enc(n), enc(v.join("="))];
          }),
      ],
    ],
  },
  list: { label: "Elements, one a line", start: "", make: (k, t) => [["RPUSH", k, ...t.split("\n").map(enc)]] },
  set: { label: "Members, one a line", start: "", make: (k, t) => [["SADD", k, ...t.split("\n").map(enc)]] },
  zset: {
    label: "Members, a line of score and member each",
    start: "1 member",
    make: (k, t) => [
      [
        "ZADD",
        k,
        ...t
          .split("\n")
          .filter(Boolean)
          .flatMap((l) => {
            const [s, ...m] = l.split(" ");
            return [s, enc(m.join(" "))];
          }),
      ],
    ],
  },
  stream: {
    label: "Fields of the first entry, a line of name=value each",
    start: "field=value",
    make: (k, t) => [
      [
        "XADD",
        k,
        "*",
        ...t
          .split("\n")
          .filter(Boolean)
          .flatMap((l) => {
            const [n, ...v] = l.split("=");
            return [enc(n), enc(v.join("="))];
          }),
      ],
    ],
  },
};

function Create({ close, done, prefix }: { close: () => void; done: (k: string) => void; prefix: string }) {
  const [type, choose] = useState("string"),
    [name, call] = useState(prefix),
    [text, put] = useState(""),
    [ttl, set] = useState("");
  const kind = first[type];
  return (
    <Dialog title="New key" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const key = enc(name);
          if (num(await run("EXISTS", key).catch(() => undefined))) return toast("There is a key of that name", "bad");
          if (
            await act("Written", async () => {
              for (const row of kind.make(key, text)) await run(...row);
              if (ttl) await run("EXPIRE", key, ttl);
            })
          )
            done(key);
        }}
      >
        <div class="form">
          <Field label="Name" wide>
            <Text value={name} onText={call} required autoFocus />
          </Field>
          <Field label="Type">
            <Choose
              value={type}
              of={types.map((t) => [t, typeName(t)] as [string, string])}
              onText={(t) => {
                choose(t);
                put(first[t].start);
              }}
            />
          </Field>
          <Field label="Expires in seconds" help="Empty: never">
            <Text type="number" min="1" value={ttl} onText={set} />
          </Field>
          <Field label={kind.label} wide>
            <Area value={text} onText={put} />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Write
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** every scans all keys that match, until each returns false. */
async function every(match: string, each: (keys: string[], all: number) => Promise<unknown>) {
  let cursor = "0",
    all = 0;
  do {
    const [next, keys] = list(await run("SCAN", cursor, "MATCH", match, "COUNT", "1000"));
    cursor = str(next);
    const found = strs(keys);
    all += found.length;
    if ((await each(found, all)) === false) return;
  } while (cursor !== "0");
}

async function deleteMany(match: string, name: string, done: () => void) {
  let all = 0;
  toast("Counting the keys that match");
  try {
    await every(match, async (k) => {
      all += k.length;
    });
  } catch (e) {
    return toast((e as Error).message, "bad");
  }
  sure({
    title: `Delete ${things(all, "key")}`,
    name,
    verb: `Delete ${things(all, "key")}`,
    done: "Deleted",
    text: (
      <p>
        All keys of database {database.value} that match{" "}
        <code>
          <bdi>{show(match)}</bdi>
        </code>{" "}
        are deleted: {count(all)} at this moment. Keys that are written meanwhile may be among them.
      </p>
    ),
    go: async () => {
      await every(match, async (k) => {
        if (k.length) await run("UNLINK", ...k);
      });
      done();
    },
  });
}

function Biggest({ close, match }: { close: () => void; match: string }) {
  const [top, put] = useState<[string, number][]>([]),
    [seen, see] = useState(0),
    [busy, wait] = useState(true),
    [error, fail] = useState("");
  useEffect(() => {
    let on = true,
      best: [string, number][] = [];
    every(match, async (keys, all) => {
      const sizes = await pipeline(keys.map((k) => ["MEMORY", "USAGE", k]));
      best = [...best, ...keys.map((k, i) => [k, num(sizes[i])] as [string, number])]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 25);
      if (!on) return false;
      put(best);
      see(all);
    })
      .catch((e) => fail(e.message))
      .finally(() => on && wait(false));
    return () => {
      on = false;
    };
  }, []);
  return (
    <Dialog title="Biggest keys" close={close} wide>
      <p class="dim" role="status">
        {busy ? "Looking: " : "All looked at: "}
        {things(seen, "key")}
        {match !== "*" && (
          <>
            {" "}
            that match <bdi>{show(match)}</bdi>
          </>
        )}
      </p>
      {error && <Note kind="bad">{error}</Note>}
      <Table
        label="Biggest keys"
        rows={top}
        id={(r) => r[0]}
        columns={[
          {
            name: "Key",
            of: (r) => (
              <A to={path.value} q={keyQuery(r[0])} onClick={close}>
                <bdi>{show(r[0]).slice(0, 200)}</bdi>
              </A>
            ),
          },
          { name: "Memory", class: "num", of: (r) => bytes(r[1]) },
        ]}
      />
    </Dialog>
  );
}
