// Flow control.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count, figure, inMs } from "../format";
import { query, set } from "../router";
import { Button, Field, Text } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { Badge, Card, Empty, Page, Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { mayWrite } from "./event";
import { B, name, Why } from "./why";

type Flow = {
  flowControlKey: string;
  waitListSize: number;
  parallelismMax: number;
  parallelismCount: number;
  rateMax: number;
  rateCount: number;
  ratePeriod: number;
  ratePeriodStart: number;
  isPaused: boolean;
  isPinnedParallelism: boolean;
  isPinnedRate: boolean;
};
export function FlowControl() {
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
    [most, limit] = useState<string | null>(null);
  const rows = flows.data ?? [];
  const change = (f: Flow, what: string, done: string) =>
    act(done, () => json(`/v2/flowControl/${name(f.flowControlKey)}/${what}`, { method: "POST" })).then(flows.again);
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
            {mayWrite() && <Button onClick={() => limit(String(global.data?.parallelismMax ?? 0))}>Limit</Button>}
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
          <Card>
            <Empty icon="flow" title={search ? "No key matches" : "No key is in use"}>
              A key is there while messages or runs with it wait, run, or have run in its last window.
            </Empty>
          </Card>
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
                      <b>
                        <B of={f.flowControlKey} />
                      </b>{" "}
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
                {
                  name: "In this window",
                  class: "num",
                  of: (f) =>
                    f.rateMax
                      ? `${count(f.rateCount)} of ${count(f.rateMax)} in ` +
                        figure("/v2/flowControl", "ratePeriod", f.ratePeriod)
                      : "–",
                },
                {
                  name: "Window began",
                  of: (f) =>
                    f.ratePeriodStart ? (
                      <Ago at={inMs("/v2/flowControl", "ratePeriodStart", f.ratePeriodStart)} />
                    ) : (
                      "–"
                    ),
                },
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
                      {mayWrite() && (
                        <>
                          <Button
                            kind="quiet"
                            onClick={() =>
                              change(f, f.isPaused ? "resume" : "pause", f.isPaused ? "Resumed" : "Paused")
                            }
                          >
                            {f.isPaused ? "Resume" : "Pause"}
                          </Button>
                          <Button
                            kind="quiet"
                            onClick={() =>
                              f.isPinnedParallelism || f.isPinnedRate
                                ? change(f, "unpin?parallelism=true&rate=true", "Unpinned")
                                : open(f)
                            }
                          >
                            {f.isPinnedParallelism || f.isPinnedRate ? "Unpin" : "Pin"}
                          </Button>
                          {f.rateMax > 0 && (
                            <Button
                              kind="quiet"
                              onClick={() =>
                                sure({
                                  title: "Start a new window",
                                  text: (
                                    <p>
                                      What was counted in this window is forgotten: {count(f.waitListSize)} waiting ones
                                      may start at once.
                                    </p>
                                  ),
                                  verb: "Start the window",
                                  go: () =>
                                    json(`/v2/flowControl/${name(f.flowControlKey)}/resetRate`, {
                                      method: "POST",
                                    }).then(flows.again),
                                })
                              }
                            >
                              New window
                            </Button>
                          )}
                        </>
                      )}
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
      {most !== null && (
        <Dialog title="Limit all attempts" close={() => limit(null)}>
          <form
            onSubmit={async (e) => {
              e.preventDefault();
              if (
                await act("The limit is set", () =>
                  json("/v2/globalParallelism", { data: { parallelismMax: Number(most) } }),
                )
              ) {
                limit(null);
                global.again();
              }
            }}
          >
            <Field label="Attempts at the same time" help="0: no limit">
              <Text type="number" min="0" value={most} onText={limit} />
            </Field>
            <footer>
              <Button type="submit" kind="main">
                Set
              </Button>
            </footer>
          </form>
        </Dialog>
      )}
    </Page>
  );
}
function Pin({ f, close, done }: { f: Flow; close: () => void; done: () => void }) {
  const [p, setP] = useState(String(f.parallelismMax || "")),
    [r, setR] = useState(String(f.rateMax || "")),
    [t, setT] = useState(String(f.ratePeriod || 1));
  return (
    <Dialog title={`Pin ${plain(f.flowControlKey)}`} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const q = new URLSearchParams();
          if (p) q.set("parallelism", p);
          if (r) {
            q.set("rate", r);
            q.set("period", t);
          }
          if (
            await act("Pinned", () => json(`/v2/flowControl/${name(f.flowControlKey)}/pin?${q}`, { method: "POST" }))
          ) {
            close();
            done();
          }
        }}
      >
        <p class="dim">Pinned values stay, whatever messages ask for.</p>
        <br />
        <div class="form">
          <Field label="Parallelism">
            <Text type="number" min="1" value={p} onText={setP} />
          </Field>
          <Field label="Rate">
            <Text type="number" min="1" value={r} onText={setR} />
          </Field>
          <Field label="Period in seconds">
            <Text type="number" min="1" value={t} onText={setT} />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Pin
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
