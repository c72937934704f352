// Sets: members by their names.
import { useState } from "preact/hooks";
import { enc, list, num, run, str, strs } from "../api";
import { Button } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Find } from "./filter";
import { Drop, useForm } from "./form";
import { gather, glob, step, usePages } from "./pages";
import { type Props, Rows } from "./rows";

export function SetEditor({ name, changed }: Props) {
  const form = useForm();
  const [text, find] = useState("");
  const size = useLoad(async () => num(await run("SCARD", name)), [name]);
  const pages = usePages(
    (at) =>
      gather(at, async (at) => {
        const [next, v] = list(await run("SSCAN", name, at || "0", "MATCH", glob(enc(text)), "COUNT", step(text)));
        return { rows: strs(v).map((m) => ({ id: m, cells: [m] })), next: str(next) === "0" ? undefined : str(next) };
      }),
    `${name} ${text}`,
  );
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
        filtered={!!text}
        sorts
        filters={
          <Find of={[{ label: "Member", value: text, hint: "a part of it, or a pattern" }]} set={([t]) => find(t)} />
        }
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
