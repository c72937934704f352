// A bench for queries: a filter, an order, a limit; what is found, how long it took, what each condition matches.
import { useState } from "preact/hooks";
import { type ApiError, enc, list, num, type Reply, run, show, str, strs } from "../api";
import { CodeEditor } from "../code/editor";
import { jsonProblem } from "../code/problem";
import { keyQuery } from "../data/tree";
import { count, msSpan, things } from "../format";
import { layJson } from "../formats/json";
import { query } from "../router";
import { Button, Choose, Field, Text } from "../ui/controls";
import { A, Card, Empty, Note } from "../ui/layout";
import { Table } from "../ui/table";
import { Explain } from "./explain";
import type { Definition } from "./load";

type Found = { rows: Reply[][]; all: number; ms: number };
const page = 20;

/** example is a filter that fits an index. */
export function example(d: Definition): string {
  const field = d.fields.find((f) => f[1] === "TEXT" || f[1] === "KEYWORD");
  return field ? `{\n  ${JSON.stringify(field[0])}: "word"\n}` : "{}";
}

export function Bench({ d }: { d: Definition }) {
  const [filter, put] = useState("{}"),
    [order, by] = useState(""),
    [limit, to] = useState(String(page));
  const [found, see] = useState<Found | null>(null),
    [error, fail] = useState(""),
    [busy, wait] = useState(false),
    [asked, ask] = useState("");
  const problem = jsonProblem(filter);
  const go = async (offset: number) => {
    wait(true);
    fail("");
    const began = performance.now();
    const [field, way] = order.split(" ");
    try {
      const argv = ["SEARCH.QUERY", d.name, enc(filter), "LIMIT", limit || String(page), "OFFSET", String(offset)];
      if (field) argv.push("ORDERBY", enc(field), way);
      const rows = list(await run(...argv)).map(list);
      const ms = performance.now() - began;
      const all = num(await run("SEARCH.COUNT", d.name, enc(filter)));
      see((was) => ({ rows: offset && was ? [...was.rows, ...rows] : rows, all, ms }));
      ask(filter);
    } catch (e) {
      see(null);
      fail((e as ApiError).message);
    }
    wait(false);
  };
  const fast = d.fields.filter((f) => f.includes("FAST")).map((f) => f[0]);
  return (
    <>
      <Card title="Query">
        <form
          onSubmit={(e) => {
            e.preventDefault();
            go(0);
          }}
        >
          <CodeEditor label="Filter" language="json" text={filter} onText={put} />
          {problem && <Note kind="warn">The filter is not JSON yet: {problem}.</Note>}
          <div class="filters">
            <Field label="Order">
              <Choose
                value={order}
                onText={by}
                of={[
                  ["", "Best match first"],
                  ...fast.flatMap((f): [string, string][] => [
                    [`${f} ASC`, `${show(f)}, lowest first`],
                    [`${f} DESC`, `${show(f)}, highest first`],
                  ]),
                ]}
              />
            </Field>
            <Field label="Limit">
              <Text type="number" min="1" max="1000" value={limit} onText={to} />
            </Field>
            <Button type="submit" kind="main" busy={busy} disabled={!!problem}>
              Run the query
            </Button>
          </div>
        </form>
        {error && <Note kind="bad">{show(enc(error))}</Note>}
        <p class="dim">
          A filter is a JSON object: <code>{example(d).replace(/\s+/g, " ")}</code>, or <code>{"{}"}</code> for every
          document.
        </p>
      </Card>
      {found && <Results of={found} more={() => go(found.rows.length)} busy={busy} />}
      {found && <Explain key={asked} d={d} filter={asked} />}
    </>
  );
}

function Results({ of, more, busy }: { of: Found; more: () => void; busy: boolean }) {
  const db = query.value.get("db") ?? undefined;
  return (
    <Card
      class="flush"
      title={`${things(of.all, "document")} match`}
      acts={<span class="dim">answered in {msSpan(of.ms)}, with the way there and back</span>}
    >
      {of.rows.length ? (
        <Table
          label="Documents"
          rows={of.rows}
          id={(r, i) => str(r[0]) + i}
          columns={[
            {
              name: "Key",
              class: "main-cell",
              of: (r) => (
                <A to="/data" q={{ db, ...keyQuery(str(r[0])) }}>
                  <bdi class="mono">{show(str(r[0])).slice(0, 200)}</bdi>
                </A>
              ),
            },
            { name: "Score", class: "num", of: (r) => score(str(r[1])) },
            { name: "Content", of: (r) => <Content of={r[2]} /> },
          ]}
        />
      ) : (
        <Empty icon="find" title="No document matches" />
      )}
      {of.rows.length < of.all && of.rows.length > 0 && (
        <div class="tree-foot">
          {count(of.rows.length)} listed
          <Button kind="quiet" busy={busy} onClick={more}>
            Load more
          </Button>
        </div>
      )}
    </Card>
  );
}

const score = (s: string) => (s === "" ? "–" : count(Number(s)));

/** Content is a document: its JSON, or its fields. */
function Content({ of }: { of: Reply | undefined }) {
  const fields = list(of).map(strs);
  const text = fields.map(([n, v]) => (n === "$" ? layJson(v) : `${n}: ${v}`)).join("\n");
  return (
    <details>
      <summary>
        <bdi class="mono">{show(fields.map(([n, v]) => (n === "$" ? v : `${n}=${v}`)).join("  ")).slice(0, 140)}</bdi>
      </summary>
      <pre>
        <bdi>{show(text.slice(0, 20_000))}</bdi>
      </pre>
    </details>
  );
}
