// The view of the keys of a database.
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, database, enc, num, run, str } from "../api";
import { things } from "../format";
import { go, type Query, query } from "../router";
import { Button } from "../ui/controls";
import { First } from "../ui/first";
import { A, Card, Empty, Page } from "../ui/layout";
import { Failed, useLoad } from "../ui/load";
import { Create } from "./create";
import { Filters } from "./filters";
import { Key } from "./key";
import { KeyList } from "./list";
import { ByName } from "./name";
import { escaped, type Match, more, type Scan } from "./scan";
import { keyOf, keyQuery } from "./tree";

const page = 500;

/** named is the key of a name, if there is one: it is found at once, however many others there are. */
async function named(key: string): Promise<Scan["found"]> {
  const type = str(await run("TYPE", key));
  return type === "none" ? [] : [{ key, type }];
}

/** useScan looks for keys: at once, and further when somebody asks for it. */
function useScan(m: Match, exact: string | undefined) {
  const [scan, put] = useState<Scan | undefined>();
  const [error, fail] = useState<ApiError | undefined>();
  const [busy, wait] = useState(false);
  const [turn, next] = useState(0);
  const last = useRef(0);
  const load = async (from?: Scan, most = page) => {
    const mine = ++last.current;
    wait(true);
    fail(undefined);
    try {
      const start = from ?? (exact ? { found: await named(exact), cursor: "0" } : undefined);
      const s = await more(start, m, most);
      if (mine === last.current) put(s);
    } catch (e) {
      if (mine === last.current) fail(e as ApiError);
    }
    if (mine === last.current) wait(false);
  };
  useEffect(() => {
    put(undefined);
    load();
  }, [m.pattern, m.type, database.value]);
  const again = () => {
    next((n) => n + 1);
    load(undefined, Math.max(page, scan?.found.length ?? 0));
  };
  return { scan, error, busy, turn, again, goOn: () => load(scan) };
}

export function Data() {
  const q = query.value,
    db = database.value;
  const prefix = enc(q.get("prefix") ?? ""),
    asked = enc(q.get("match") ?? ""),
    type = q.get("type") ?? "";
  const key = keyOf(q);
  const isPattern = /[*?[]/.test(asked);
  const pattern = !asked ? `${escaped(prefix)}*` : isPattern ? asked : `*${escaped(asked)}*`;
  const scan = useScan({ pattern, type }, asked && !isPattern && !type ? asked : undefined);
  const [creating, create] = useState(false);
  const size = useLoad(async () => num(await run("DBSIZE")), [db]);
  const reload = () => {
    scan.again();
    size.again();
  };
  const keep = (m: Query): Query => ({
    ...Object.fromEntries([...q].filter(([n]) => n !== "key" && n !== "bytes")),
    ...m,
  });
  const open = (k: string) => go("/data", keep(keyQuery(k)));
  return (
    <Page
      title="Data"
      sub={size.data === undefined ? `Database ${db}` : `${things(size.data, "key")} in database ${db}`}
      acts={
        <>
          <A to="/analysis" q={{ db: q.get("db") ?? undefined, prefix: q.get("prefix") ?? undefined }} class="button">
            Memory by prefix
          </A>
          <Button kind="main" icon="plus" onClick={() => create(true)}>
            New key
          </Button>
        </>
      }
    >
      <Filters pattern={q.get("match") ?? ""} type={type} set={(m) => go("/data", keep(m))} />
      <div class={key === undefined ? "browser" : "browser open"}>
        <Card class="flush keys-card">
          {scan.error?.denied ? (
            <ByName why={scan.error.message} open={open} />
          ) : scan.error ? (
            <Failed error={scan.error} again={scan.again} />
          ) : !scan.scan ? (
            <div class="loading" role="status">
              <span class="spin" aria-hidden="true" /> Looking for keys
            </div>
          ) : (
            <KeyList
              scan={scan.scan}
              match={{ pattern, type }}
              prefix={prefix}
              flat={!!asked}
              now={key}
              to={keep}
              busy={scan.busy}
              goOn={scan.goOn}
              changed={reload}
              turn={scan.turn}
            />
          )}
        </Card>
        {key !== undefined ? (
          <Key
            key={db + key}
            name={key}
            close={() => go("/data", keep({}))}
            gone={() => {
              go("/data", keep({}), true);
              reload();
            }}
            renamed={(k) => {
              go("/data", keep(keyQuery(k)), true);
              reload();
            }}
          />
        ) : size.data === 0 ? (
          <First
            icon="data"
            title="Write the first key"
            act={
              <Button kind="main" icon="plus" onClick={() => create(true)}>
                New key
              </Button>
            }
            shell="trireme redis SET greeting hello"
            service="Keyspace"
          >
            A key has a name, a value of one of many types, and an expiry if you like. Any Redis client can write it.
          </First>
        ) : (
          <Card class="key-none">
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
            open(k);
          }}
          prefix={q.get("prefix") ?? ""}
        />
      )}
    </Page>
  );
}
