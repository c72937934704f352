// One index of vectors: what it is, and the vectors that are nearest to one.
import { useState } from "preact/hooks";
import { type ApiError, database, enc, list, num, plain, run, show, str, strs } from "../api";
import { keyQuery } from "../data/tree";
import { count, msSpan } from "../format";
import { query } from "../router";
import { Area, Button, Field, Text } from "../ui/controls";
import { A, Card, Empty, Facts, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { map } from "./load";
import { back } from "./search";

type About = { dimension: number; metric: string; vectors: number };

export function VectorIndex({ name }: { name: string }) {
  const of = useLoad<About | null>(async () => {
    const r = await run("VECTOR.INFO", name);
    if (r.t === "nil") return null;
    const m = map(r);
    return { dimension: num(m.dimension), metric: str(m.metric), vectors: num(await run("VECTOR.COUNT", name)) };
  }, [name, database.value]);
  return (
    <Page title={show(name)} sub={back()}>
      <Loaded of={of} isEmpty={(d) => d === null} empty={<Empty icon="find" title="There is no index of this name" />}>
        {(d) =>
          d && (
            <>
              <Card>
                <Facts
                  of={[
                    ["Vectors", count(d.vectors)],
                    ["Dimension", count(d.dimension)],
                    ["Metric", d.metric.toLowerCase()],
                    [
                      "Key",
                      <A to="/data" q={{ db: query.value.get("db") ?? undefined, ...keyQuery(name) }}>
                        Open the key
                      </A>,
                    ],
                  ]}
                />
              </Card>
              <Nearest name={name} d={d} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

/** vectorOf are the elements of a vector that somebody typed: numbers, in brackets or not. */
export const vectorOf = (text: string) =>
  text
    .replace(/[[\]]/g, " ")
    .split(/[\s,]+/)
    .filter(Boolean);

function Nearest({ name, d }: { name: string; d: About }) {
  const [id, call] = useState(""),
    [text, put] = useState(""),
    [limit, to] = useState("10");
  const [found, see] = useState<{ rows: string[][]; ms: number } | null>(null),
    [error, fail] = useState(""),
    [busy, wait] = useState(false);
  const words = vectorOf(text);
  const go = async () => {
    wait(true);
    fail("");
    try {
      let vector = words;
      if (id) {
        const r = await run("VECTOR.GET", name, enc(id));
        if (r.t === "nil") throw new Error(`there is no vector “${id}”`);
        vector = strs(r);
        put(vector.join(", "));
      }
      const began = performance.now();
      const reply = await run("VECTOR.QUERY", name, "TOPK", limit || "10", "VALUES", String(vector.length), ...vector);
      see({ rows: list(reply).map(strs), ms: performance.now() - began });
    } catch (e) {
      see(null);
      fail((e as ApiError).message);
    }
    wait(false);
  };
  return (
    <>
      <Card title="Nearest vectors">
        <form
          onSubmit={(e) => {
            e.preventDefault();
            go();
          }}
        >
          <div class="form">
            <Field label="To the vector of an id" help="Leave empty to give the numbers">
              <Text value={id} onText={call} />
            </Field>
            <Field label="Limit">
              <Text type="number" min="1" value={limit} onText={to} />
            </Field>
            <Field label={`${count(d.dimension)} numbers`} help={`${count(words.length)} given`} wide>
              <Area value={text} onText={put} rows={3} required={!id} />
            </Field>
          </div>
          <p class="dim">The search is exact: it compares with all {count(d.vectors)} vectors.</p>
          <div class="acts">
            <Button type="submit" kind="main" busy={busy}>
              Find
            </Button>
          </div>
        </form>
        {error && <Note kind="bad">{plain(error)}</Note>}
      </Card>
      {found && (
        <Card class="flush" title="Nearest first" acts={<span class="dim">answered in {msSpan(found.ms)}</span>}>
          <Table
            label="Vectors"
            rows={found.rows}
            id={(r) => r[0]}
            columns={[
              { name: "Id", class: "main-cell", of: (r) => <bdi class="mono">{show(r[0]).slice(0, 200)}</bdi> },
              { name: "Score", class: "num", of: (r) => r[1] },
            ]}
          />
        </Card>
      )}
    </>
  );
}
