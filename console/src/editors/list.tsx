// Lists: elements by their indexes, from the head or from the tail.
import { useState } from "preact/hooks";
import { enc, num, pipeline, run, str, strs, utf8 } from "../api";
import { Button, Choose, Field } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Find } from "./filter";
import { Drop, useForm } from "./form";
import { page, usePages } from "./pages";
import { type Props, Rows } from "./rows";

export function ListEditor({ name, changed }: Props) {
  const form = useForm();
  const [start, from] = useState(""),
    [end, side] = useState("head");
  const size = useLoad(async () => num(await run("LLEN", name)), [name]);
  const pages = usePages(async (at) => {
    const first = Number(at || start || "0");
    const tail = end === "tail";
    const [a, b] = tail ? [-first - page, -first - 1] : [first, first + page - 1];
    const [length, reply] = await pipeline([
      ["LLEN", name],
      ["LRANGE", name, String(a), String(b)],
    ]);
    if (reply.t === "err") throw new Error(reply.v);
    const v = strs(reply);
    const rows = v.map((x, i) => {
      const index = tail ? num(length) - first - v.length + i : first + i;
      return { id: String(index), cells: [String(index), x] };
    });
    return {
      rows: tail ? rows.reverse() : rows,
      next: first + v.length < num(length) && v.length ? String(first + v.length) : undefined,
    };
  }, `${name} ${start} ${end}`);
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
  const drop = async (index: string) => {
    // A list deletes by value: the element is given one of its own first.
    const mark = enc(`__deleted by the console ${Math.random()}`);
    const rows = await pipeline([
      ["LSET", name, index, mark],
      ["LREM", name, "1", mark],
    ]);
    const bad = rows.find((x) => x.t === "err");
    if (bad) throw new Error(str(bad));
    await again();
  };
  return (
    <>
      <Rows
        pages={pages}
        label="element"
        total={size.data ?? 0}
        order={end === "tail" ? "the last first" : undefined}
        columns={["Index", "Value"]}
        filtered={!!start}
        filters={
          <>
            <Field label="From">
              <Choose
                value={end}
                onText={side}
                of={[
                  ["head", "The head"],
                  ["tail", "The tail"],
                ]}
              />
            </Field>
            <Find
              of={[{ label: "Leave out the first", value: start, hint: "0" }]}
              set={([t]) => from(/^\d+$/.test(t) ? t : "")}
            />
          </>
        }
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
            <Drop what={`element ${r.id}`} go={() => drop(r.id)} />
          </>
        )}
      />
      {form.view}
    </>
  );
}
