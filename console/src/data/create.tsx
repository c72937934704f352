// A new key of any type.
import { useState } from "preact/hooks";
import { enc, num, run } from "../api";
import { CodeEditor } from "../code/editor";
import { Area, Button, Choose, Field, Text } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { act, toast } from "../ui/toasts";
import { typeName, types } from "./types";

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

export function Create({ close, done, prefix }: { close: () => void; done: (k: string) => void; prefix: string }) {
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
            await act("Created", async () => {
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
          <Field label="Expires in seconds" help="Leave empty for never">
            <Text type="number" min="1" value={ttl} onText={set} />
          </Field>
          {type === "ReJSON-RL" ? (
            <div class="wide">
              <CodeEditor label={kind.label} language="json" text={text} onText={put} />
            </div>
          ) : (
            <Field label={kind.label} wide>
              <Area value={text} onText={put} />
            </Field>
          )}
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Create the key
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
