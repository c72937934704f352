// A string as bits. Those that are set are counted when somebody looks at them: that reads all of the string.
import { useState } from "preact/hooks";
import { num, run } from "../api";
import { things } from "../format";
import { Button, Field, Text } from "../ui/controls";
import { useLoad } from "../ui/load";
import { Code } from "../ui/text";
import { act } from "../ui/toasts";

type Props = { name: string; part: string; changed: () => void };

export function Bits(p: Props) {
  const [open, put] = useState(false);
  return (
    <details class="bits" onToggle={(e) => put(e.currentTarget.open)}>
      <summary>Bits</summary>
      {open && <Inside {...p} />}
    </details>
  );
}

function Inside({ name, part, changed }: Props) {
  const [at, put] = useState("0");
  const all = useLoad(async () => num(await run("BITCOUNT", name)), [name, part]);
  const set: number[] = [];
  for (let i = 0; i < part.length && set.length < 500; i++)
    for (let b = 0; b < 8; b++) if (part.charCodeAt(i) & (128 >> b)) set.push(i * 8 + b);
  const write = (bit: string) => act(`The bit is ${bit}`, () => run("SETBIT", name, at, bit)).then(changed);
  return (
    <>
      <p>
        {all.data !== undefined && `${things(all.data, "bit")} set`}
        {set.length >= 500 && "; the first 500 are listed"}
      </p>
      <Code label="Bits that are set" text={set.join(" ") || "none"} />
      <form class="filters" onSubmit={(e) => e.preventDefault()}>
        <Field label="Bit">
          <Text type="number" min="0" value={at} onText={put} />
        </Field>
        <Button onClick={() => write("1")}>Set to 1</Button>
        <Button onClick={() => write("0")}>Set to 0</Button>
      </form>
    </>
  );
}
