// The view of the keys of a database.
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, database, enc, list, num, run, show, str, strs } from "../api";
import { things } from "../format";
import { go, query } from "../router";
import { Button, Choose, Field, Text } from "../ui/controls";
import { Card, Empty, Page } from "../ui/layout";
import { Failed, useLoad } from "../ui/load";
import { Create, typeName, types } from "./create";
import { Key } from "./key";
import { Biggest, deleteMany } from "./many";
import { Crumbs, keyOf, keyQuery, Tree } from "./tree";

const page = 300;
const glob = (b: string) => b.replace(/[\\*?[\]]/g, (c) => `\\${c}`);

type Scan = { keys: string[]; cursor: string; seen: number };

/** more goes on with a scan until it has found a page of keys, or has looked long enough. */
async function more(was: Scan | undefined, match: string, type: string, until: number): Promise<Scan> {
  const found = new Set(was?.keys);
  let cursor = was?.cursor ?? "0",
    rounds = 0;
  do {
    const argv = ["SCAN", cursor, "MATCH", match || "*", "COUNT", "1000"];
    if (type) argv.push("TYPE", type);
    const [next, keys] = list(await run(...argv));
    cursor = str(next);
    for (const k of strs(keys)) found.add(k);
  } while (cursor !== "0" && found.size < until && ++rounds < 30);
  return { keys: [...found].sort(), cursor, seen: (was?.seen ?? 0) + rounds };
}

export function Data() {
  const q = query.value,
    db = database.value;
  const prefix = enc(q.get("prefix") ?? ""),
    pattern = enc(q.get("match") ?? ""),
    type = q.get("type") ?? "";
  const key = keyOf(q);
  const [scan, put] = useState<Scan | undefined>();
  const [error, fail] = useState<ApiError | undefined>();
  const [busy, wait] = useState(false);
  const [creating, create] = useState(false);
  const [biggest, big] = useState(false);
  const turn = useRef(0);
  const size = useLoad(async () => num(await run("DBSIZE")), [db]);
  const match = pattern ? (/[*?[]/.test(pattern) ? pattern : `*${pattern}*`) : `${glob(prefix)}*`;
  const load = async (from?: Scan) => {
    const mine = ++turn.current;
    wait(true);
    fail(undefined);
    try {
      const s = await more(from, match, type, (from?.keys.length ?? 0) + page);
      if (mine === turn.current) put(s);
    } catch (e) {
      if (mine === turn.current) fail(e as ApiError);
    }
    if (mine === turn.current) wait(false);
  };
  useEffect(() => {
    put(undefined);
    load();
  }, [match, type, db]);
  const reload = () => {
    load();
    size.again();
  };
  const keep = (more: Record<string, string | undefined>) => ({
    ...Object.fromEntries([...q].filter(([n]) => n !== "key" && n !== "bytes")),
    ...more,
  });

  return (
    <Page
      title="Data"
      sub={size.data === undefined ? `Database ${db}` : `${things(size.data, "key")} in database ${db}`}
      acts={
        <>
          <Button onClick={() => big(true)}>Biggest keys</Button>
          <Button kind="main" icon="plus" onClick={() => create(true)}>
            New key
          </Button>
        </>
      }
    >
      <Filters
        pattern={q.get("match") ?? ""}
        type={type}
        set={(m) =>
          go("/data", {
            db: q.get("db") ?? undefined,
            prefix: q.get("prefix") ?? undefined,
            type: type || undefined,
            match: q.get("match") ?? undefined,
            ...m,
          })
        }
      />
      <div class="cols">
        <Card class="flush">
          {!pattern && <Crumbs prefix={prefix} to={(p) => keep({ prefix: show(p) || undefined })} />}
          {error ? (
            <Failed error={error} again={() => load()} />
          ) : !scan ? (
            <div class="loading" role="status">
              <span class="spin" aria-hidden="true" /> Scanning
            </div>
          ) : scan.keys.length ? (
            <Tree keys={scan.keys} prefix={pattern ? "" : prefix} flat={!!pattern} now={key} to={keep} />
          ) : (
            <Empty
              icon="data"
              title={
                scan.cursor === "0"
                  ? pattern || prefix || type
                    ? "No key matches"
                    : "This database is empty"
                  : "Nothing found so far"
              }
            >
              {!pattern && !prefix && !type ? "Write the first key here, or with any client." : undefined}
            </Empty>
          )}
          {scan && (
            <div class="tree-foot">
              <span>
                {things(scan.keys.length, "key")}
                {scan.cursor === "0" ? ", all of them" : " so far"}
              </span>
              {scan.cursor !== "0" && (
                <Button kind="quiet" busy={busy} onClick={() => load(scan)}>
                  Scan more keys
                </Button>
              )}
              {(prefix || pattern) && scan.keys.length > 0 && (
                <Button kind="quiet" class="bad" onClick={() => deleteMany(match, pattern ? pattern : prefix, reload)}>
                  Delete all that match
                </Button>
              )}
            </div>
          )}
        </Card>
        {key !== undefined ? (
          <Key
            key={db + key}
            name={key}
            gone={() => {
              go("/data", keep({}), true);
              reload();
            }}
            renamed={(k) => {
              go("/data", keep(keyQuery(k)), true);
              reload();
            }}
          />
        ) : (
          <Card>
            <Empty icon="data" title="Choose a key">
              Its value, its expiry and what it takes of memory are shown here.
            </Empty>
          </Card>
        )}
      </div>
      {creating && (
        <Create
          close={() => create(false)}
          done={(k) => {
            create(false);
            reload();
            go("/data", keep(keyQuery(k)));
          }}
          prefix={q.get("prefix") ?? ""}
        />
      )}
      {biggest && <Biggest close={() => big(false)} match={match} />}
    </Page>
  );
}

function Filters({
  pattern,
  type,
  set,
}: {
  pattern: string;
  type: string;
  set: (m: Record<string, string | undefined>) => void;
}) {
  const [text, put] = useState(pattern);
  useEffect(() => put(pattern), [pattern]);
  return (
    <form
      class="filters"
      onSubmit={(e) => {
        e.preventDefault();
        set({ match: text || undefined });
      }}
    >
      <Field label="Pattern">
        <Text
          type="search"
          value={text}
          onText={(t) => {
            put(t);
            if (!t) set({ match: undefined });
          }}
          placeholder="user:* or a part of the name"
        />
      </Field>
      <Field label="Type">
        <Choose
          value={type}
          of={[["", "Every type"], ...types.map((t) => [t, typeName(t)] as [string, string])]}
          onText={(t) => set({ type: t || undefined })}
        />
      </Field>
      <Button type="submit">Find</Button>
    </form>
  );
}
