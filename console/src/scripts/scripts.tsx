// Lua scripts and libraries of functions.
import { useState } from "preact/hooks";
import { type ApiError, database, enc, type Reply, run } from "../api";
import { CodeEditor } from "../code/editor";
import { msSpan } from "../format";
import { query } from "../router";
import { Area, Button, Field } from "../ui/controls";
import { Card, Note, Page, Tabs } from "../ui/layout";
import { Drawn } from "../ui/reply";
import { Functions } from "./functions";

export function Scripts() {
  const part = query.value.get("part") ?? "run";
  return (
    <Page title="Scripts" sub={`Lua in database ${database.value}`}>
      <Tabs
        now={part}
        to={(n) => ({ part: n, db: query.value.get("db") ?? undefined })}
        of={[
          ["run", "Run a script"],
          ["functions", "Functions"],
        ]}
      />
      {part === "functions" ? <Functions /> : <Run />}
    </Page>
  );
}

const first = 'return redis.call("GET", KEYS[1])\n';
const lines = (text: string) => (text ? text.replace(/\n$/, "").split("\n").map(enc) : []);

function Run() {
  const [text, put] = useState(first),
    [keys, name] = useState(""),
    [args, give] = useState(""),
    [reads, only] = useState(true);
  const [reply, see] = useState<{ of: Reply; ms: number } | null>(null),
    [busy, wait] = useState(false);
  const go = async () => {
    wait(true);
    const began = performance.now();
    const [k, a] = [lines(keys), lines(args)];
    const of = await run(reads ? "EVAL_RO" : "EVAL", enc(text), String(k.length), ...k, ...a).catch(
      (e: ApiError): Reply => ({ t: "err", v: enc(e.message) }),
    );
    see({ of, ms: performance.now() - began });
    wait(false);
  };
  return (
    <>
      <Card>
        <form
          onSubmit={(e) => {
            e.preventDefault();
            go();
          }}
        >
          <CodeEditor label="Script" language="lua" text={text} onText={put} />
          <div class="form">
            <Field label="Keys, one a line" help="KEYS[1], KEYS[2], … of the script">
              <Area value={keys} onText={name} rows={3} />
            </Field>
            <Field label="Arguments, one a line" help="ARGV[1], ARGV[2], …">
              <Area value={args} onText={give} rows={3} />
            </Field>
            <label class="check wide">
              <input type="checkbox" checked={reads} onChange={() => only(!reads)} /> Read only: a script that writes is
              refused
            </label>
            {!reads && <Note kind="warn">The script may change and delete keys, at once and on all nodes.</Note>}
          </div>
          <div class="acts run-acts">
            <Button type="submit" kind="main" busy={busy}>
              Run the script
            </Button>
          </div>
        </form>
      </Card>
      {reply && (
        <Card title="Reply" acts={<span class="dim">answered in {msSpan(reply.ms)}</span>}>
          <Drawn of={reply.of} />
        </Card>
      )}
    </>
  );
}
