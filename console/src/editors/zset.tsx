// Sorted sets: members by score, in a range of scores, or by their names.
import { useState } from "preact/hooks";
import { enc, list, num, run, show, str, strs } from "../api";
import { Button, Choose, Field } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Find } from "./filter";
import { Drop, useForm } from "./form";
import { gather, glob, type Part, page, type Row, step, usePages } from "./pages";
import { type Props, Rows } from "./rows";

type Wanted = { from: string; to: string; member: string; down: boolean };

const pairs = (flat: string[]): Row[] =>
  flat.filter((_, i) => i % 2 === 0).map((m, i) => ({ id: m, cells: [flat[2 * i + 1], m] }));

/** members is a page of members: by score, or, of those of a name, in the server's order. */
async function members(name: string, at: string, w: Wanted): Promise<Part> {
  if (w.member)
    return gather(at, async (at) => {
      const match = glob(enc(w.member));
      const [next, flat] = list(await run("ZSCAN", name, at || "0", "MATCH", match, "COUNT", step(w.member)));
      const inRange = (r: Row) =>
        (!w.from || Number(r.cells[0]) >= Number(w.from)) && (!w.to || Number(r.cells[0]) <= Number(w.to));
      return { rows: pairs(strs(flat)).filter(inRange), next: str(next) === "0" ? undefined : str(next) };
    });
  const skip = Number(at || "0"),
    [low, high] = [w.from || "-inf", w.to || "+inf"];
  const argv = ["ZRANGE", name, ...(w.down ? [high, low] : [low, high]), "BYSCORE", ...(w.down ? ["REV"] : [])];
  const rows = pairs(strs(await run(...argv, "LIMIT", String(skip), String(page), "WITHSCORES")));
  return { rows, next: rows.length === page ? String(skip + page) : undefined };
}

export function ZsetEditor({ name, changed }: Props) {
  const form = useForm();
  const [w, want] = useState<Wanted>({ from: "", to: "", member: "", down: false });
  const size = useLoad(async () => num(await run("ZCARD", name)), [name]);
  const pages = usePages((at) => members(name, at, w), name + JSON.stringify(w));
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
        order={w.member ? undefined : w.down ? "the highest score first" : "the lowest score first"}
        columns={["Score", "Member"]}
        filtered={!!(w.from || w.to || w.member)}
        sorts={!!w.member}
        filters={
          <>
            {!w.member && (
              <Field label="Order">
                <Choose
                  value={w.down ? "down" : "up"}
                  onText={(t) => want({ ...w, down: t === "down" })}
                  of={[
                    ["up", "Lowest score first"],
                    ["down", "Highest score first"],
                  ]}
                />
              </Field>
            )}
            <Find
              of={[
                { label: "Score from", value: w.from, hint: "-inf" },
                { label: "Score to", value: w.to, hint: "+inf" },
                { label: "Member", value: w.member, hint: "a part of it, or a pattern" },
              ]}
              set={([from, to, member]) => want({ ...w, from, to, member })}
            />
          </>
        }
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
