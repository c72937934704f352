// Strings as text, in hexadecimal and as bits.
import { useState } from "preact/hooks";
import { enc, num, pipeline, run, show, str, utf8 } from "../api";
import { bytes, things } from "../format";
import { Area, Button, Field, Text } from "../ui/controls";
import { Note } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Code } from "../ui/text";
import { act } from "../ui/toasts";
import type { Props } from "./rows";

const shown = 256 * 1024;

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

export function StringEditor({ name, changed }: Props) {
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
                  Save
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
