// Streams: entries by their ids, which are times, the newest first or the oldest.
import { useState } from "preact/hooks";
import { enc, list, num, type Reply, run, str, strs } from "../api";
import { msStamp } from "../format";
import { Button, Choose, Field } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Find } from "./filter";
import { Drop, useForm } from "./form";
import { Groups } from "./groups";
import { usePages } from "./pages";
import { type Props, Rows } from "./rows";

const page = 50;

const pairs = (r: Reply) => {
  const v = strs(r);
  return v.filter((_, i) => i % 2 === 0).map((n, i) => [n, v[2 * i + 1]] as const);
};
const stampOf = (id: string) => {
  const ms = Number(id.split("-")[0]);
  return ms > 1e11 && ms < 1e14 ? msStamp(ms) : "–";
};

/** idOf is the id of what somebody typed: an id, or a date and time. */
export function idOf(text: string, end: string): string {
  if (!text.trim()) return end;
  if (/^\d+(-\d+)?$/.test(text.trim())) return text.trim();
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new Error(`“${text}” is neither an id nor a time such as 2026-11-29 08:00`);
  return String(ms);
}

export function StreamEditor({ name, changed }: Props) {
  const form = useForm();
  const [w, want] = useState({ from: "", to: "", old: false });
  const size = useLoad(async () => num(await run("XLEN", name)), [name]);
  const [turn, next] = useState(0);
  const pages = usePages(async (at) => {
    const [low, high] = [idOf(w.from, "-"), idOf(w.to, "+")];
    const range = w.old ? ["XRANGE", name, at ? `(${at}` : low, high] : ["XREVRANGE", name, at ? `(${at}` : high, low];
    const v = list(await run(...range, "COUNT", String(page)));
    return {
      rows: v.map((e) => {
        const [id, fields] = list(e);
        const text = pairs(fields).map(([n, x]) => `${n}=${x}`);
        return { id: str(id), cells: [str(id), enc(stampOf(str(id))), text.join("  ")] };
      }),
      next: v.length === page ? str(list(v[page - 1])[0]) : undefined,
    };
  }, name + JSON.stringify(w));
  const again = async () => {
    await pages.load.again();
    await size.again();
    next(turn + 1);
    changed();
  };
  const write = ([t]: string[]) => {
    const words = t
      .split("\n")
      .filter(Boolean)
      .flatMap((l) => {
        const [n, ...v] = l.split("=");
        return [enc(n), enc(v.join("="))];
      });
    return run("XADD", name, "*", ...words).then(again);
  };
  return (
    <>
      <Rows
        pages={pages}
        label="entry"
        order={w.old ? "the oldest first" : "the newest first"}
        total={size.data ?? 0}
        columns={["Id", "Time", "Fields"]}
        filtered={!!(w.from || w.to)}
        filters={
          <>
            <Field label="Order">
              <Choose
                value={w.old ? "old" : "new"}
                onText={(t) => want({ ...w, old: t === "old" })}
                of={[
                  ["new", "Newest first"],
                  ["old", "Oldest first"],
                ]}
              />
            </Field>
            <Find
              of={[
                { label: "From", value: w.from, hint: "an id or a time" },
                { label: "To", value: w.to, hint: "an id or a time" },
              ]}
              set={([from, to]) => want({ ...w, from, to })}
            />
          </>
        }
        add={
          <Button
            icon="plus"
            onClick={() =>
              form.open({
                title: "New entry",
                fields: [{ label: "Fields, a line of name=value each", area: true }],
                write,
              })
            }
          >
            Entry
          </Button>
        }
        acts={(r) => <Drop what={`entry ${r.id}`} go={() => run("XDEL", name, r.id).then(again)} />}
      />
      <Groups key={turn} name={name} />
      {form.view}
    </>
  );
}
