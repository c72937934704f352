// A viewer and editor for every type.
import { useState } from "preact/hooks";
import { enc, list, num, pipeline, plain, type Reply, run, show, str, strs, utf8 } from "./api";
import type { KeyInfo } from "./data";
import { bytes, count, figure, msStamp, things } from "./format";
import { Area, act, Badge, Button, Code, Dialog, Field, Loaded, Note, sure, Table, Text, useLoad } from "./ui";

type Props = { name: string; info: KeyInfo; changed: () => void; gone: () => void };
const shown = 256 * 1024,
  page = 100;

export function Editor(p: Props) {
  switch (p.info.type) {
    case "string":
      return <StringEditor {...p} />;
    case "ReJSON-RL":
      return <JsonEditor {...p} />;
    case "hash":
      return <HashEditor {...p} />;
    case "list":
      return <ListEditor {...p} />;
    case "set":
      return <SetEditor {...p} />;
    case "zset":
      return <ZsetEditor {...p} />;
    case "stream":
      return <StreamEditor {...p} />;
  }
  return <Note>This console can't show values of the type {p.info.type}. The command line can.</Note>;
}

/** Cell is a value in a table: its beginning, as text. */
const Cell = ({ of }: { of: string }) => (
  <bdi class="mono">
    {show(of.slice(0, 300))}
    {of.length > 300 && <span class="dim"> … {bytes(of.length)}</span>}
  </bdi>
);

function hex(b: string): string {
  const lines: string[] = [];
  for (let i = 0; i < Math.min(b.length, 4096); i += 16) {
    const part = b.slice(i, i + 16);
    lines.push(
      i.toString(16).padStart(6, "0") +
        "  " +
        [...part]
          .map((c) => c.charCodeAt(0).toString(16).padStart(2, "0"))
          .join(" ")
          .padEnd(48) +
        " " +
        part.replace(/[^\x20-\x7e]/g, "."),
    );
  }
  return lines.join("\n") + (b.length > 4096 ? `\n… ${bytes(b.length - 4096)} more` : "");
}

function StringEditor({ name, changed }: Props) {
  const [view, look] = useState("text");
  const [text, edit] = useState<string | null>(null);
  const value = useLoad(async () => {
    const [length, part, bits, hll] = await pipeline([
      ["STRLEN", name],
      ["GETRANGE", name, "0", String(shown - 1)],
      ["BITCOUNT", name],
      ["GETRANGE", name, "0", "3"],
    ]);
    const isHLL = str(hll) === "HYLL";
    return {
      length: num(length),
      part: str(part),
      bits: num(bits),
      hll: isHLL ? num((await pipeline([["PFCOUNT", name]]))[0]) : undefined,
    };
  }, [name]);
  return (
    <Loaded of={value}>
      {(v) => {
        const whole = v.part.length === v.length,
          asText = utf8(v.part);
        let pretty: string | undefined;
        if (asText && whole && /^\s*[{[]/.test(asText))
          try {
            pretty = JSON.stringify(JSON.parse(asText), null, 2);
          } catch {
            /* not JSON */
          }
        if (text !== null)
          return (
            <form
              onSubmit={async (e) => {
                e.preventDefault();
                if (await act("Written", () => run("SET", name, enc(text), "XX", "KEEPTTL"))) {
                  edit(null);
                  await value.again();
                  changed();
                }
              }}
            >
              <Field label="Value">
                <Area value={text} onText={edit} rows={14} />
              </Field>
              <div class="acts">
                <Button type="submit" kind="main">
                  Write
                </Button>
                <Button onClick={() => edit(null)}>Cancel</Button>
              </div>
            </form>
          );
        return (
          <>
            {v.hll !== undefined && <Note>A HyperLogLog that counts about {things(v.hll, "element")}.</Note>}
            <div class="acts">
              <div class="segments" role="group" aria-label="Show as">
                {["text", "hex", "bits"].map((k) => (
                  <button key={k} type="button" aria-pressed={view === k} onClick={() => look(k)}>
                    {k}
                  </button>
                ))}
              </div>
              <span class="dim">
                {bytes(v.length)}, {things(v.bits, "bit")} set
                {!whole && `, the first ${bytes(v.part.length)} are shown`}
              </span>
              <span class="push">
                {whole && asText !== null && (
                  <Button icon="edit" onClick={() => edit(asText)}>
                    Edit
                  </Button>
                )}
              </span>
            </div>
            <br />
            {view === "text" ? (
              <Code label="Value" tall text={pretty ?? asText ?? show(v.part)} />
            ) : view === "hex" ? (
              <Code label="Value in hexadecimal" tall text={hex(v.part)} />
            ) : (
              <Bits name={name} part={v.part} changed={value.again} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function Bits({ name, part, changed }: { name: string; part: string; changed: () => void }) {
  const [at, put] = useState("0");
  const set: number[] = [];
  for (let i = 0; i < part.length && set.length < 500; i++)
    for (let b = 0; b < 8; b++) if (part.charCodeAt(i) & (128 >> b)) set.push(i * 8 + b);
  return (
    <>
      <p>Bits that are set{set.length >= 500 && ", the first 500"}:</p>
      <Code label="Bits that are set" text={set.join(" ") || "none"} />
      <form class="filters" onSubmit={(e) => e.preventDefault()}>
        <Field label="Bit">
          <Text type="number" min="0" value={at} onText={put} />
        </Field>
        <Button onClick={() => act("The bit is 1", () => run("SETBIT", name, at, "1")).then(changed)}>Set to 1</Button>
        <Button onClick={() => act("The bit is 0", () => run("SETBIT", name, at, "0")).then(changed)}>Set to 0</Button>
      </form>
    </>
  );
}

function JsonEditor({ name, info, changed }: Props) {
  const [text, edit] = useState<string | null>(null);
  const big = info.size > 4 << 20;
  const value = useLoad(async () => (big ? "" : (utf8(str(await run("JSON.GET", name, "."))) ?? "")), [name]);
  if (big)
    return (
      <>
        <Note>This document takes {bytes(info.size)}: its members are listed, not its whole.</Note>
        <BigJson name={name} />
      </>
    );
  return (
    <Loaded of={value}>
      {(v) => {
        let tree: unknown;
        try {
          tree = JSON.parse(v);
        } catch {
          return <Code label="JSON" text={v} />;
        }
        if (text !== null)
          return (
            <form
              onSubmit={async (e) => {
                e.preventDefault();
                if (
                  await act("Written", async () => {
                    JSON.parse(text);
                    await run("JSON.SET", name, "$", enc(text));
                  })
                ) {
                  edit(null);
                  await value.again();
                  changed();
                }
              }}
            >
              <Field label="JSON">
                <Area value={text} onText={edit} rows={18} />
              </Field>
              <div class="acts">
                <Button type="submit" kind="main">
                  Write
                </Button>
                <Button onClick={() => edit(null)}>Cancel</Button>
              </div>
            </form>
          );
        return (
          <>
            <div class="acts">
              <Button icon="edit" onClick={() => edit(v.length < 1 << 20 ? JSON.stringify(tree, null, 2) : v)}>
                Edit
              </Button>
            </div>
            <br />
            <div class="json">
              <Json of={tree} open />
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

function BigJson({ name }: { name: string }) {
  const keys = useLoad(async () => strs(await run("JSON.OBJKEYS", name, ".")).slice(0, 2000), [name]);
  return (
    <Loaded of={keys}>
      {(k) => (
        <Table label="Members" rows={k} id={(r) => r} columns={[{ name: "Member", of: (r) => <Cell of={r} /> }]} />
      )}
    </Loaded>
  );
}

/** Json is a tree of which a branch is drawn when it is opened. */
export function Json({ of, name, open }: { of: unknown; name?: string; open?: boolean }) {
  const [seen, see] = useState(!!open),
    [most, put] = useState(200);
  const label =
    name === undefined ? null : (
      <>
        <span class="k">
          <bdi>{plain(name).slice(0, 500)}</bdi>
        </span>
        :{" "}
      </>
    );
  if (of === null || typeof of !== "object") {
    const kind = typeof of === "string" ? "s" : "n";
    return (
      <div class="leaf">
        {label}
        <span class={kind}>
          <bdi>
            {typeof of === "string"
              ? JSON.stringify(plain(of.slice(0, 5000))) + (of.length > 5000 ? ` … ${bytes(of.length)}` : "")
              : String(of)}
          </bdi>
        </span>
      </div>
    );
  }
  const rows: [string, unknown][] = Array.isArray(of)
    ? of.slice(0, most).map((v, i) => [String(i), v])
    : Object.entries(of).slice(0, most);
  const all = Array.isArray(of) ? of.length : Object.keys(of).length;
  return (
    <details open={open} onToggle={(e) => e.currentTarget.open && see(true)}>
      <summary>
        {label}
        <span class="dim">{Array.isArray(of) ? `[${all}]` : `{${all}}`}</span>
      </summary>
      {seen && rows.map(([k, v]) => <Json key={k} name={k} of={v} />)}
      {seen && all > most && (
        <Button kind="quiet" onClick={() => put(most * 5)}>
          Show more ({count(all - most)} left)
        </Button>
      )}
    </details>
  );
}

type Row = { id: string; cells: string[] };

/** Pages loads rows piece by piece. */
function usePages(fetch: (at: string) => Promise<{ rows: Row[]; next?: string }>, name: string) {
  const [rest, add] = useState<{ rows: Row[]; next?: string }>();
  const load = useLoad(async () => {
    const p = await fetch("");
    add(undefined);
    return p;
  }, [name]);
  const next = rest ? rest.next : load.data?.next;
  const [busy, wait] = useState(false);
  return {
    load,
    rows: [...(load.data?.rows ?? []), ...(rest?.rows ?? [])],
    next,
    busy,
    more: async () => {
      wait(true);
      try {
        const p = await fetch(next ?? "");
        add((was) => ({ rows: [...(was?.rows ?? []), ...p.rows], next: p.next }));
      } finally {
        wait(false);
      }
    },
  };
}

function Rows({
  pages,
  columns,
  acts,
  add,
  total,
  label,
  order,
}: {
  pages: ReturnType<typeof usePages>;
  columns: string[];
  acts: (r: Row) => preact.ComponentChildren;
  add: preact.ComponentChildren;
  total: number;
  label: string;
  order?: string;
}) {
  return (
    <Loaded of={pages.load}>
      {() => (
        <>
          <div class="acts">
            <span class="dim">
              {things(total, label)}
              {order && `, ${order}`}
            </span>
            <span class="push">{add}</span>
          </div>
          <br />
          <Table
            label={`Each ${label}`}
            rows={pages.rows}
            id={(r, i) => r.id + i}
            columns={[
              ...columns.map((c, i) => ({
                name: c,
                class: i === columns.length - 1 ? "main-cell" : undefined,
                of: (r: Row) => <Cell of={r.cells[i]} />,
              })),
              { name: "-Acts", class: "acts-cell", of: acts },
            ]}
          />
          {pages.next && (
            <p>
              <Button busy={pages.busy} onClick={pages.more}>
                Show more
              </Button>
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Form asks for some texts and writes them. */
function Form({
  title,
  fields,
  close,
  write,
}: {
  title: string;
  fields: { label: string; value?: string; area?: boolean; optional?: boolean; fixed?: boolean }[];
  close: () => void;
  write: (texts: string[]) => Promise<unknown>;
}) {
  const [texts, put] = useState(fields.map((f) => f.value ?? ""));
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("Written", () => write(texts))) close();
        }}
      >
        <div class="form">
          {fields.map((f, i) => (
            <Field key={f.label} label={f.label} wide>
              {f.area ? (
                <Area value={texts[i]} onText={(t) => put(texts.with(i, t))} />
              ) : (
                <Text
                  value={texts[i]}
                  readOnly={f.fixed}
                  required={!f.optional}
                  onText={(t) => put(texts.with(i, t))}
                />
              )}
            </Field>
          ))}
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

function useForm() {
  const [form, open] = useState<null | Parameters<typeof Form>[0]>(null);
  return {
    open: (f: Omit<Parameters<typeof Form>[0], "close">) => open({ ...f, close: () => open(null) }),
    view: form && <Form {...form} />,
  };
}
const Drop = ({ what, go }: { what: string; go: () => Promise<unknown> }) => (
  <Button
    kind="quiet"
    class="bad"
    onClick={() =>
      sure({
        title: `Delete ${what}`,
        text: <p>It is deleted at once, on all nodes.</p>,
        verb: "Delete",
        done: "Deleted",
        go,
      })
    }
  >
    Delete
  </Button>
);

function HashEditor({ name, changed }: Props) {
  const form = useForm();
  const size = useLoad(async () => num(await run("HLEN", name)), [name]);
  const pages = usePages(async (at) => {
    const [next, flat] = list(await run("HSCAN", name, at || "0", "COUNT", String(page)));
    const v = strs(flat),
      fields = v.filter((_, i) => i % 2 === 0);
    const ttl = fields.length
      ? list((await pipeline([["HPTTL", name, "FIELDS", String(fields.length), ...fields]]))[0])
      : [];
    return {
      rows: fields.map((f, i) => ({
        id: f,
        cells: [f, num(ttl[i]) > 0 ? figure("PTTL", "ttl", num(ttl[i])) : "-", v[2 * i + 1]],
      })),
      next: str(next) === "0" ? undefined : str(next),
    };
  }, name);
  const again = async () => {
    await pages.load.again();
    await size.again();
    changed();
  };
  return (
    <>
      <Rows
        pages={pages}
        label="field"
        total={size.data ?? 0}
        columns={["Field", "Expires in", "Value"]}
        add={
          <Button
            icon="plus"
            onClick={() =>
              form.open({
                title: "New field",
                fields: [
                  { label: "Field" },
                  { label: "Value", area: true },
                  { label: "Expires in seconds (empty: never)", optional: true },
                ],
                write: async ([f, v, t]) => {
                  await run("HSET", name, enc(f), enc(v));
                  if (t) await run("HEXPIRE", name, t, "FIELDS", "1", enc(f));
                  await again();
                },
              })
            }
          >
            Field
          </Button>
        }
        acts={(r) => (
          <>
            <Button
              kind="quiet"
              disabled={utf8(r.cells[2]) === null}
              onClick={() =>
                form.open({
                  title: "Edit field",
                  fields: [
                    { label: "Field", value: show(r.id), fixed: true },
                    { label: "Value", value: utf8(r.cells[2]) ?? "", area: true },
                    { label: "Expires in seconds (empty: as it is)", optional: true },
                  ],
                  write: async ([, v, t]) => {
                    await run("HSET", name, r.id, enc(v));
                    if (t) await run("HEXPIRE", name, t, "FIELDS", "1", r.id);
                    await again();
                  },
                })
              }
            >
              Edit
            </Button>
            <Drop what="this field" go={() => run("HDEL", name, r.id).then(again)} />
          </>
        )}
      />
      {form.view}
    </>
  );
}

function ListEditor({ name, changed }: Props) {
  const form = useForm();
  const size = useLoad(async () => num(await run("LLEN", name)), [name]);
  const pages = usePages(async (at) => {
    const from = Number(at || "0"),
      v = strs(await run("LRANGE", name, String(from), String(from + page - 1)));
    return {
      rows: v.map((x, i) => ({ id: String(from + i), cells: [String(from + i), x] })),
      next: v.length === page ? String(from + page) : undefined,
    };
  }, name);
  const again = async () => {
    await pages.load.again();
    await size.again();
    changed();
  };
  const add = (word: string) => () =>
    form.open({
      title: "New element",
      fields: [{ label: "Value", area: true }],
      write: ([v]) => run(word, name, enc(v)).then(again),
    });
  return (
    <>
      <Rows
        pages={pages}
        label="element"
        total={size.data ?? 0}
        columns={["Index", "Value"]}
        add={
          <>
            <Button onClick={add("LPUSH")}>Add to the head</Button>{" "}
            <Button onClick={add("RPUSH")}>Add to the tail</Button>
          </>
        }
        acts={(r) => (
          <>
            <Button
              kind="quiet"
              disabled={utf8(r.cells[1]) === null}
              onClick={() =>
                form.open({
                  title: `Edit element ${r.id}`,
                  fields: [{ label: "Value", value: utf8(r.cells[1]) ?? "", area: true }],
                  write: ([v]) => run("LSET", name, r.id, enc(v)).then(again),
                })
              }
            >
              Edit
            </Button>
            <Drop
              what={`element ${r.id}`}
              go={async () => {
                // A list deletes by value: the element is given one of its own first.
                const mark = enc(`__deleted by the console ${Math.random()}`);
                const rows = await pipeline([
                  ["LSET", name, r.id, mark],
                  ["LREM", name, "1", mark],
                ]);
                const bad = rows.find((x) => x.t === "err");
                if (bad) throw new Error(str(bad));
                await again();
              }}
            />
          </>
        )}
      />
      {form.view}
    </>
  );
}

function SetEditor({ name, changed }: Props) {
  const form = useForm();
  const size = useLoad(async () => num(await run("SCARD", name)), [name]);
  const pages = usePages(async (at) => {
    const [next, v] = list(await run("SSCAN", name, at || "0", "COUNT", String(page)));
    return { rows: strs(v).map((m) => ({ id: m, cells: [m] })), next: str(next) === "0" ? undefined : str(next) };
  }, name);
  const again = async () => {
    await pages.load.again();
    await size.again();
    changed();
  };
  return (
    <>
      <Rows
        pages={pages}
        label="member"
        total={size.data ?? 0}
        columns={["Member"]}
        add={
          <Button
            icon="plus"
            onClick={() =>
              form.open({
                title: "New member",
                fields: [{ label: "Member", area: true }],
                write: ([m]) => run("SADD", name, enc(m)).then(again),
              })
            }
          >
            Member
          </Button>
        }
        acts={(r) => <Drop what="this member" go={() => run("SREM", name, r.id).then(again)} />}
      />
      {form.view}
    </>
  );
}

function ZsetEditor({ name, changed }: Props) {
  const form = useForm();
  const size = useLoad(async () => num(await run("ZCARD", name)), [name]);
  const pages = usePages(async (at) => {
    const from = Number(at || "0"),
      v = strs(await run("ZRANGE", name, String(from), String(from + page - 1), "WITHSCORES"));
    return {
      rows: v.filter((_, i) => i % 2 === 0).map((m, i) => ({ id: m, cells: [v[2 * i + 1], m] })),
      next: v.length === 2 * page ? String(from + page) : undefined,
    };
  }, name);
  const again = async () => {
    await pages.load.again();
    await size.again();
    changed();
  };
  return (
    <>
      <Rows
        pages={pages}
        label="member"
        total={size.data ?? 0}
        columns={["Score", "Member"]}
        add={
          <Button
            icon="plus"
            onClick={() =>
              form.open({
                title: "New member",
                fields: [{ label: "Score", value: "0" }, { label: "Member" }],
                write: ([s, m]) => run("ZADD", name, s, enc(m)).then(again),
              })
            }
          >
            Member
          </Button>
        }
        acts={(r) => (
          <>
            <Button
              kind="quiet"
              onClick={() =>
                form.open({
                  title: `Score of ${show(r.id).slice(0, 80)}`,
                  fields: [{ label: "Score", value: r.cells[0] }],
                  write: ([s]) => run("ZADD", name, "XX", s, r.id).then(again),
                })
              }
            >
              Edit
            </Button>
            <Drop what="this member" go={() => run("ZREM", name, r.id).then(again)} />
          </>
        )}
      />
      {form.view}
    </>
  );
}

const pairs = (r: Reply) => {
  const v = strs(r);
  return v.filter((_, i) => i % 2 === 0).map((n, i) => [n, v[2 * i + 1]] as const);
};
const map = (r: Reply) => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};

function StreamEditor({ name, changed }: Props) {
  const form = useForm();
  const size = useLoad(async () => num(await run("XLEN", name)), [name]);
  const groups = useLoad(async () => list(await run("XINFO", "GROUPS", name)).map(map), [name]);
  const pages = usePages(async (at) => {
    const v = list(await run("XREVRANGE", name, at ? `(${at}` : "+", "-", "COUNT", "50"));
    return {
      rows: v.map((e) => {
        const [id, fields] = list(e);
        return {
          id: str(id),
          cells: [
            str(id),
            stampOf(str(id)),
            pairs(fields)
              .map(([n, x]) => `${n}=${x}`)
              .join("  "),
          ],
        };
      }),
      next: v.length === 50 ? str(list(v[49])[0]) : undefined,
    };
  }, name);
  const again = async () => {
    await pages.load.again();
    await size.again();
    await groups.again();
    changed();
  };
  return (
    <>
      <Rows
        pages={pages}
        label="entry"
        order="the newest first"
        total={size.data ?? 0}
        columns={["Id", "Time", "Fields"]}
        add={
          <Button
            icon="plus"
            onClick={() =>
              form.open({
                title: "New entry",
                fields: [{ label: "Fields, a line of name=value each", area: true }],
                write: ([t]) =>
                  run(
                    "XADD",
                    name,
                    "*",
                    ...t
                      .split("\n")
                      .filter(Boolean)
                      .flatMap((l) => {
                        const [n, ...v] = l.split("=");
                        return [enc(n), enc(v.join("="))];
                      }),
                  ).then(again),
              })
            }
          >
            Entry
          </Button>
        }
        acts={(r) => <Drop what={`entry ${r.id}`} go={() => run("XDEL", name, r.id).then(again)} />}
      />
      <h3>Groups</h3>
      <Loaded of={groups} isEmpty={(g) => !g.length} empty={<p class="dim">No consumer group reads this stream.</p>}>
        {(g) => (
          <>
            {g.map((x) => (
              <Group key={str(x.name)} stream={name} g={x} />
            ))}
          </>
        )}
      </Loaded>
      {form.view}
    </>
  );
}
const stampOf = (id: string) => {
  const ms = Number(id.split("-")[0]);
  return ms > 1e11 && ms < 1e14 ? msStamp(ms) : "-";
};

function Group({ stream, g }: { stream: string; g: Record<string, Reply> }) {
  const [open, put] = useState(false);
  const name = str(g.name);
  const pending = useLoad(
    async () => (open ? list(await run("XPENDING", stream, name, "-", "+", "100")).map((r) => strs(r)) : []),
    [open],
  );
  return (
    <details onToggle={(e) => put(e.currentTarget.open)}>
      <summary>
        <b>
          <bdi>{show(name)}</bdi>
        </b>{" "}
        <Badge>{things(num(g.consumers), "consumer")}</Badge>{" "}
        <Badge tone={num(g.pending) ? "warn" : "plain"}>{count(num(g.pending))} pending</Badge>{" "}
        <span class="dim">
          last delivered {str(g["last-delivered-id"])}, lag {count(num(g.lag))}
        </span>
      </summary>
      {open && (
        <Loaded of={pending} isEmpty={(p) => !p.length} empty={<p class="dim">Nothing is pending.</p>}>
          {(p) => (
            <Table
              label="Pending entries"
              rows={p}
              id={(r) => r[0]}
              columns={[
                { name: "Id", of: (r) => r[0] },
                { name: "Consumer", of: (r) => <Cell of={r[1]} /> },
                { name: "Idle", class: "num", of: (r) => figure("XPENDING", "idle", Number(r[2])) },
                { name: "Deliveries", class: "num", of: (r) => r[3] },
              ]}
            />
          )}
        </Loaded>
      )}
    </details>
  );
}
