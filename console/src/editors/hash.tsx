// Hashes: fields by their names, with values and expiries.
import { useState } from "preact/hooks";
import { enc, list, num, pipeline, run, show, str, strs, utf8 } from "../api";
import { figure } from "../format";
import { Button } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Find } from "./filter";
import { Drop, useForm } from "./form";
import { gather, glob, type Part, type Row, step, usePages } from "./pages";
import { type Props, Rows } from "./rows";

const long = 16 << 10; // bytes of a value that is not loaded with the others

/** fields is a page of fields. Their values are asked for only if they are short. */
async function fields(name: string, at: string, text: string): Promise<Part> {
  const [next, found] = list(await run("HSCAN", name, at || "0", "MATCH", glob(text), "COUNT", step(text), "NOVALUES"));
  const names = strs(found),
    after = str(next) === "0" ? undefined : str(next);
  if (!names.length) return { rows: [], next: after };
  const [ttl, ...sizes] = await pipeline([
    ["HPTTL", name, "FIELDS", String(names.length), ...names],
    ...names.map((f) => ["HSTRLEN", name, f]),
  ]);
  const short = names.filter((_, i) => num(sizes[i]) <= long);
  const values = short.length ? list(await run("HMGET", name, ...short)) : [];
  const of = new Map(short.map((f, i) => [f, str(values[i])]));
  const rows = names.map((f, i) => {
    const left = num(list(ttl)[i]);
    return {
      id: f,
      cells: [f, left > 0 ? figure("PTTL", "ttl", left) : "–", of.get(f) ?? ""].map((c, n) => (n === 1 ? enc(c) : c)),
      long: of.has(f) ? undefined : num(sizes[i]),
    };
  });
  return { rows, next: after };
}

export function HashEditor({ name, changed }: Props) {
  const form = useForm();
  const [text, find] = useState("");
  const size = useLoad(async () => num(await run("HLEN", name)), [name]);
  const pages = usePages((at) => gather(at, (at) => fields(name, at, enc(text))), `${name} ${text}`);
  const again = async () => {
    await pages.load.again();
    await size.again();
    changed();
  };
  const whole = async (r: Row) => str(await run("HGET", name, r.id));
  const write = async (f: string, v: string, t: string) => {
    await run("HSET", name, f, enc(v));
    if (t) await run("HEXPIRE", name, t, "FIELDS", "1", f);
    await again();
  };
  const edit = async (r: Row) => {
    const value = utf8(r.long === undefined ? r.cells[2] : await whole(r)) ?? "";
    form.open({
      title: "Edit field",
      fields: [
        { label: "Field", value: show(r.id), fixed: true },
        { label: "Value", value, area: true },
        { label: "Expires in seconds (empty: no change)", optional: true },
      ],
      write: ([, v, t]) => write(r.id, v, t),
    });
  };
  const add = () =>
    form.open({
      title: "New field",
      fields: [
        { label: "Field" },
        { label: "Value", area: true },
        { label: "Expires in seconds (empty: never)", optional: true },
      ],
      write: ([f, v, t]) => write(enc(f), v, t),
    });
  return (
    <>
      <Rows
        pages={pages}
        label="field"
        total={size.data ?? 0}
        columns={["Field", "Expires in", "Value"]}
        whole={whole}
        filtered={!!text}
        sorts
        filters={
          <Find
            of={[{ label: "Field", value: text, hint: "a part of its name, or a pattern" }]}
            set={([t]) => find(t)}
          />
        }
        add={
          <Button icon="plus" onClick={add}>
            Field
          </Button>
        }
        acts={(r) => (
          <>
            <Button kind="quiet" disabled={r.long === undefined && utf8(r.cells[2]) === null} onClick={() => edit(r)}>
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
