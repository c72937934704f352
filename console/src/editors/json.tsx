// JSON documents, as trees.
import { useState } from "preact/hooks";
import { enc, plain, run, str, strs, utf8 } from "../api";
import { CodeEditor } from "../code/editor";
import { jsonProblem } from "../code/problem";
import { bytes, count } from "../format";
import { layJson } from "../formats/json";
import { Button } from "../ui/controls";
import { Note } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Code } from "../ui/text";
import { act } from "../ui/toasts";
import { Cell, type Props } from "./rows";

export function JsonEditor({ name, info, changed }: Props) {
  const [text, edit] = useState<string | null>(null);
  const big = (info.size ?? 0) > 4 << 20;
  const value = useLoad(async () => (big ? "" : (utf8(str(await run("JSON.GET", name, "."))) ?? "")), [name]);
  if (big)
    return (
      <>
        <Note>This document takes {bytes(info.size ?? 0)}: its members are listed, not its whole.</Note>
        <BigJson name={name} />
      </>
    );
  const problem = text === null ? "" : jsonProblem(text);
  return (
    <Loaded of={value}>
      {(v) => {
        let tree: unknown;
        try {
          tree = JSON.parse(v);
        } catch {
          return <Code label="JSON" text={v} />;
        }
        if (text !== null)
          return (
            <form
              onSubmit={async (e) => {
                e.preventDefault();
                if (!(await act("Saved", () => run("JSON.SET", name, "$", enc(text))))) return;
                edit(null);
                await value.again();
                changed();
              }}
            >
              <CodeEditor label="JSON" language="json" text={text} onText={edit} />
              {problem && <Note kind="warn">This is not JSON yet: {problem}.</Note>}
              <div class="acts">
                <Button type="submit" kind="main" disabled={!!problem}>
                  Save
                </Button>
                <Button onClick={() => edit(null)}>Cancel</Button>
              </div>
            </form>
          );
        return (
          <>
            <div class="acts">
              <Button icon="edit" onClick={() => edit(v.length < 1 << 20 ? layJson(v) : v)}>
                Edit
              </Button>
            </div>
            <br />
            <div class="json">
              <Json of={tree} open />
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

function BigJson({ name }: { name: string }) {
  const keys = useLoad(async () => strs(await run("JSON.OBJKEYS", name, ".")).slice(0, 2000), [name]);
  return (
    <Loaded of={keys}>
      {(k) => (
        <Table label="Members" rows={k} id={(r) => r} columns={[{ name: "Member", of: (r) => <Cell of={r} /> }]} />
      )}
    </Loaded>
  );
}

/** Json is a tree of which a branch is drawn when it is opened. */
export function Json({ of, name, open }: { of: unknown; name?: string; open?: boolean }) {
  const [seen, see] = useState(!!open),
    [most, put] = useState(200);
  const label =
    name === undefined ? null : (
      <>
        <span class="k">
          <bdi>{plain(name).slice(0, 500)}</bdi>
        </span>
        :{" "}
      </>
    );
  if (of === null || typeof of !== "object") {
    const kind = typeof of === "string" ? "s" : "n";
    return (
      <div class="leaf">
        {label}
        <span class={kind}>
          <bdi>
            {typeof of === "string"
              ? JSON.stringify(plain(of.slice(0, 5000))) + (of.length > 5000 ? ` … ${bytes(of.length)}` : "")
              : String(of)}
          </bdi>
        </span>
      </div>
    );
  }
  const rows: [string, unknown][] = Array.isArray(of)
    ? of.slice(0, most).map((v, i) => [String(i), v])
    : Object.entries(of).slice(0, most);
  const all = Array.isArray(of) ? of.length : Object.keys(of).length;
  return (
    <details open={open} onToggle={(e) => e.currentTarget.open && see(true)}>
      <summary>
        {label}
        <span class="dim">{Array.isArray(of) ? `[${all}]` : `{${all}}`}</span>
      </summary>
      {seen && rows.map(([k, v]) => <Json key={k} name={k} of={v} />)}
      {seen && all > most && (
        <Button kind="quiet" onClick={() => put(most * 5)}>
          Show more ({count(all - most)} left)
        </Button>
      )}
    </details>
  );
}
