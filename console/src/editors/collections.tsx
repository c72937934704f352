// Hashes, lists, sets and sorted sets.
import { enc, list, num, pipeline, run, show, str, strs, utf8 } from "../api";
import { figure } from "../format";
import { Button } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Drop, type Props, page, Rows, useForm, usePages } from "./rows";

export function HashEditor({ name, changed }: Props) {
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
                    { label: "Expires in seconds (empty: no change)", optional: true },
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

export function ListEditor({ name, changed }: Props) {
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

export function SetEditor({ name, changed }: Props) {
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

export function ZsetEditor({ name, changed }: Props) {
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
