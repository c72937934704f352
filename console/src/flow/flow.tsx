// Flow control.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count } from "../format";
import { mayWrite } from "../messages/event";
import { B, name, Why } from "../messages/why";
import { query, set } from "../router";
import { Button, Field } from "../ui/controls";
import { First } from "../ui/first";
import { A, Badge, Card, Empty, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { type Flow, FlowActs, inWindow, One, Window } from "./flow-key";
import { Limit } from "./limit";
import { Pin } from "./pin";

/** limited publishes a message with a key. */
const limited =
  "trireme messages publish https://example.com/orders '{}' " +
  "--flow-control-key orders --flow-control-value rate=10,period=1m";

export function FlowControl() {
  const key = query.value.get("key");
  return key ? <One id={key} key={key} /> : <List />;
}

function List() {
  const search = query.value.get("search") ?? "";
  const flows = useLoad<Flow[]>(
    (poll) => json(`/v2/flowControl${search ? `?search=${name(search)}` : ""}`, { poll }),
    [search],
    3000,
  );
  const global = useLoad<{ parallelismMax?: number; parallelismCount: number }>(
    (poll) => json("/v2/globalParallelism", { poll }),
    [],
    5000,
  );
  const [why, ask] = useState(""),
    [pin, open] = useState<Flow | null>(null),
    [most, limit] = useState<number | null>(null);
  const rows = flows.data ?? [];
  return (
    <Page
      title="Flow control"
      sub="How many attempts run at once, and how many in a time, by key"
      acts={
        global.data && (
          <>
            <span class="dim">
              All attempts: {count(global.data.parallelismCount)} of{" "}
              {global.data.parallelismMax ? count(global.data.parallelismMax) : "any number"}
            </span>
            {mayWrite() && <Button onClick={() => limit(global.data?.parallelismMax ?? 0)}>Limit</Button>}
          </>
        )
      }
    >
      <form
        class="filters"
        onSubmit={(e) => {
          e.preventDefault();
          set({ search: new FormData(e.currentTarget).get("search") as string });
        }}
      >
        <Field label="Find a key">
          <input type="search" name="search" defaultValue={search} />
        </Field>
        <Button type="submit">Find</Button>
      </form>
      <Loaded
        of={flows}
        isEmpty={() => !rows.length}
        empty={
          search ? (
            <Card>
              <Empty icon="flow" title="No key matches">
                A key is there while messages or runs with it wait, run, or have run in its last window.
              </Empty>
            </Card>
          ) : (
            <First icon="flow" title="No key is in use" shell={limited} service="Messages">
              Messages and runs that share a flow-control key share its limits: how many start in a time, and how many
              are delivered at once. A key is listed while something with it waits, runs, or has run in its last window.
            </First>
          )
        }
      >
        {() => (
          <Card class="flush">
            <Table
              label="Flow-control keys"
              rows={rows}
              id={(f) => f.flowControlKey}
              columns={[
                {
                  name: "Key",
                  class: "main-cell",
                  of: (f) => (
                    <>
                      <A to="/flow" q={{ key: f.flowControlKey }}>
                        <B of={f.flowControlKey} />
                      </A>{" "}
                      {f.isPaused && <Badge tone="warn">paused</Badge>}{" "}
                      {(f.isPinnedParallelism || f.isPinnedRate) && <Badge tone="info">pinned</Badge>}
                    </>
                  ),
                },
                { name: "Waiting", class: "num", of: (f) => count(f.waitListSize) },
                {
                  name: "Running",
                  class: "num",
                  of: (f) => `${count(f.parallelismCount)} of ${f.parallelismMax || "∞"}`,
                },
                { name: "In this window", class: "num", of: inWindow },
                { name: "Window began", of: (f) => <Window of={f} /> },
                {
                  name: "-Actions",
                  class: "acts-cell",
                  of: (f) => (
                    <>
                      {f.waitListSize > 0 && (
                        <Button kind="quiet" onClick={() => ask(f.flowControlKey)}>
                          Why it waits
                        </Button>
                      )}
                      {mayWrite() && <FlowActs of={f} again={flows.again} pin={() => open(f)} />}
                    </>
                  ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      {why && (
        <Why
          path={`/v2/flowControl/${name(why)}?explain=true`}
          title={`Why ${plain(why)} waits`}
          close={() => ask("")}
        />
      )}
      {pin && <Pin f={pin} close={() => open(null)} done={flows.again} />}
      {most !== null && <Limit of={most} close={() => limit(null)} done={global.again} />}
    </Page>
  );
}
