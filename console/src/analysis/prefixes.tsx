// Memory by what the names of keys begin with, one level after the other.
import { useEffect, useState } from "preact/hooks";
import { ApiError, database, enc, show, utf8 } from "../api";
import { passed } from "../data/scan";
import { bytes, count, percent, things } from "../format";
import { query, set } from "../router";
import { Button, Field, Text } from "../ui/controls";
import { A, Card, Empty, Note } from "../ui/layout";
import { Failed } from "../ui/load";
import { Table } from "../ui/table";
import type { Sum, Sums } from "./adder";
import { addUp } from "./sums";

const shown = 200;

export function Prefixes() {
  const q = query.value,
    prefix = q.get("prefix") ?? "",
    separator = q.get("by") || ":";
  const [state, put] = useState<{ sums: Sums; cursor: string } | null>(null),
    [error, fail] = useState<ApiError | null>(null),
    [turn, again] = useState(0);
  useEffect(() => {
    let on = true;
    put(null);
    fail(null);
    addUp(enc(prefix), enc(separator), (sums, cursor) => {
      if (on) put({ sums, cursor });
      return on;
    }).catch((e) => on && fail(e instanceof ApiError ? e : new ApiError(0, String(e))));
    return () => {
      on = false;
    };
  }, [prefix, separator, database.value, turn]);
  if (error) return <Failed error={error} again={() => again(turn + 1)} />;
  return (
    <>
      <Form key={`${prefix} ${separator}`} prefix={prefix} separator={separator} />
      <Card
        class="flush"
        title={prefix ? <bdi class="mono">{show(enc(prefix))}</bdi> : "All keys"}
        acts={
          prefix && (
            <A to="/analysis" q={{ ...Object.fromEntries(q), prefix: undefined }}>
              All keys
            </A>
          )
        }
      >
        {!state ? (
          <div class="loading" role="status">
            <span class="spin" aria-hidden="true" /> Adding up
          </div>
        ) : (
          <Listed of={state.sums} whole={state.cursor === "0"} prefix={enc(prefix)} />
        )}
        {state && (
          <div class="tree-foot">
            <span role="status">
              {things(state.sums.keys, "key")}, {bytes(state.sums.bytes)}
              {state.cursor === "0"
                ? ", all of them"
                : `: ${percent(Math.floor(passed(state.cursor) * 100))} of the database so far, still adding up`}
            </span>
          </div>
        )}
      </Card>
    </>
  );
}

function Form({ prefix, separator }: { prefix: string; separator: string }) {
  const [a, begin] = useState(prefix),
    [b, cut] = useState(separator);
  return (
    <form
      class="filters"
      onSubmit={(e) => {
        e.preventDefault();
        set({ prefix: a || undefined, by: b === ":" ? undefined : b || undefined });
      }}
    >
      <Field label="Keys that begin with">
        <Text type="search" value={a} onText={begin} placeholder="all keys" />
      </Field>
      <Field label="Separator">
        <Text value={b} onText={cut} placeholder=":" />
      </Field>
      <Button type="submit">Add up</Button>
    </form>
  );
}

function Listed({ of, whole, prefix }: { of: Sums; whole: boolean; prefix: string }) {
  if (!of.rows.length) return <Empty icon="chart" title={whole ? "No key begins so" : "Nothing found so far"} />;
  const q = Object.fromEntries(query.value);
  const name = (s: Sum) => {
    const text = utf8(s.name);
    if (s.name === prefix || text === null)
      return (
        <span>
          <bdi class="mono">{show(s.name)}</bdi>{" "}
          <span class="dim">{s.name ? "and no further separator" : "names without a separator"}</span>
        </span>
      );
    return (
      <A to="/analysis" q={{ ...q, prefix: text }}>
        <bdi class="mono">{show(s.name).slice(0, 200)}</bdi>
      </A>
    );
  };
  return (
    <>
      {of.rest && (
        <Note>
          There are too many beginnings to tell all apart: {things(of.rest.keys, "key")} with {bytes(of.rest.bytes)} are
          counted in the sum alone, some of them of beginnings in this list.
        </Note>
      )}
      <Table
        label="Memory by prefix"
        rows={of.rows.slice(0, shown)}
        id={(r) => r.name}
        columns={[
          { name: "Begins with", class: "main-cell", of: name },
          { name: "Memory", class: "num", of: (r) => bytes(r.bytes) },
          {
            name: "Share",
            class: "num",
            of: (r) => (
              <span class="share">
                <meter value={r.bytes} max={of.bytes || 1} aria-label="Share of the memory" />
                {share(r.bytes, of.bytes)}
              </span>
            ),
          },
          { name: "Keys", class: "num", of: (r) => count(r.keys) },
          { name: "A key takes", class: "num", of: (r) => bytes(r.bytes / r.keys) },
          {
            name: "-Actions",
            class: "acts-cell",
            of: (r) =>
              utf8(r.name) !== null && (
                <A to="/data" q={{ db: q.db, prefix: utf8(r.name) ?? undefined }} class="button quiet">
                  List
                </A>
              ),
          },
        ]}
      />
    </>
  );
}

function share(part: number, all: number): string {
  const n = Math.round((part / (all || 1)) * 100);
  return n < 1 ? `< ${percent(1)}` : percent(n);
}
