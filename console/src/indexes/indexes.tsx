// The indexes of a database: those that search documents, and those of vectors.
import { useEffect, useState } from "preact/hooks";
import { type ApiError, database, enc, plain, run, show } from "../api";
import { passed } from "../data/scan";
import { bytes, count, percent } from "../format";
import { query } from "../router";
import { Button } from "../ui/controls";
import { A, Badge, Card, Empty, Page } from "../ui/layout";
import { Failed, Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { aliases, type Definition, searchIndexes, type Vectors, vectorIndexes } from "./load";
import { SearchIndex } from "./search";
import { VectorIndex } from "./vector";

export const tone = (state: string) => (state === "ready" ? "good" : state === "suspended" ? "bad" : "warn");

export function Indexes() {
  const q = query.value;
  const search = q.get("search"),
    vectors = q.get("vectors");
  if (search !== null) return <SearchIndex key={search} name={enc(search)} />;
  if (vectors !== null) return <VectorIndex key={vectors} name={enc(vectors)} />;
  return (
    <Page title="Indexes" sub={`Search and vector indexes of database ${database.value}`}>
      <Search />
      <VectorKeys />
    </Page>
  );
}

const to = (q: Record<string, string>) => ({ db: query.value.get("db") ?? undefined, ...q });

function Search() {
  const all = useLoad(searchIndexes, [database.value]);
  const names = useLoad(aliases, [database.value]);
  const of = (d: Definition) => (names.data ?? []).filter(([, index]) => index === d.name).map(([alias]) => alias);
  return (
    <Card class="flush" title="Search indexes">
      <Loaded
        of={all}
        isEmpty={(d) => !d.length}
        empty={
          <Empty icon="find" title="No search index">
            SEARCH.CREATE makes one over JSON documents, hashes, strings with JSON or a stream.
          </Empty>
        }
      >
        {(d) => (
          <Table
            label="Search indexes"
            rows={d}
            id={(r) => r.name}
            columns={[
              {
                name: "Index",
                class: "main-cell",
                of: (r) => (
                  <A to="/indexes" q={to({ search: plain(r.name) })}>
                    <bdi class="mono">{show(r.name)}</bdi>
                  </A>
                ),
              },
              { name: "Documents", class: "num", of: (r) => count(r.documents) },
              { name: "Memory", class: "num", of: (r) => bytes(r.size) },
              { name: "State", of: (r) => <Badge tone={tone(r.state)}>{r.state}</Badge> },
              { name: "Of", of: (r) => r.type },
              { name: "Keys", of: (r) => <bdi class="mono">{r.prefixes.map(show).join(", ").slice(0, 200)}</bdi> },
              { name: "Aliases", class: "less", of: (r) => <bdi>{of(r).map(show).join(", ") || "–"}</bdi> },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

function VectorKeys() {
  const [all, put] = useState<Vectors | null>(null),
    [error, fail] = useState<ApiError | null>(null),
    [busy, wait] = useState(false);
  const look = async (was?: Vectors) => {
    wait(true);
    fail(null);
    await vectorIndexes(was).then(put, fail);
    wait(false);
  };
  useEffect(() => {
    put(null);
    look();
  }, [database.value]);
  const sizes = useLoad(
    async () => Promise.all((all?.found ?? []).slice(0, 100).map((k) => run("VECTOR.COUNT", k).catch(() => null))),
    [all],
  );
  return (
    <Card class="flush" title="Vector indexes">
      {error ? (
        <Failed error={error} again={() => look()} />
      ) : !all ? (
        <div class="loading" role="status">
          <span class="spin" aria-hidden="true" /> Looking for vectors
        </div>
      ) : all.found.length ? (
        <Table
          label="Vector indexes"
          rows={all.found}
          id={(k) => k}
          columns={[
            {
              name: "Key",
              class: "main-cell",
              of: (k) => (
                <A to="/indexes" q={to({ vectors: plain(k) })}>
                  <bdi class="mono">{show(k)}</bdi>
                </A>
              ),
            },
            {
              name: "Vectors",
              class: "num",
              of: (k) => {
                const n = sizes.data?.[all.found.indexOf(k)];
                return n?.t === "int" ? count(Number(n.v)) : "–";
              },
            },
          ]}
        />
      ) : (
        <Empty icon="find" title={all.cursor === "0" ? "No vector index" : "None found so far"}>
          {all.cursor === "0" && "VECTOR.CREATE makes one. It is a key of the database."}
        </Empty>
      )}
      {all && all.cursor !== "0" && (
        <div class="tree-foot">
          {percent(Math.floor(passed(all.cursor) * 100))} of the database looked at
          <Button kind="quiet" busy={busy} onClick={() => look(all)}>
            Look further
          </Button>
        </div>
      )}
    </Card>
  );
}
