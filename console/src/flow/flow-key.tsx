// One flow-control key: its limits, why it waits, and what went through it.
import { useState } from "preact/hooks";
import { found, json, plain } from "../api";
import { count, figure, inMs } from "../format";
import { mayWrite } from "../messages/event";
import { Tenants } from "../messages/tenants";
import { Traffic } from "../messages/traffic";
import { B, name, Waits } from "../messages/why";
import type { Messages } from "../schemas";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Facts, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { Pin } from "./pin";

export type Flow = Messages["Flow"];

export const inWindow = (f: Flow) =>
  f.rateMax
    ? `${count(f.rateCount)} of ${count(f.rateMax)} in ${figure("/v2/flowControl", "ratePeriod", f.ratePeriod)}`
    : "–";
export const Window = ({ of: f }: { of: Flow }) =>
  f.ratePeriodStart ? <Ago at={inMs("/v2/flowControl", "ratePeriodStart", f.ratePeriodStart)} /> : <>–</>;
const isPinned = (f: Flow) => f.isPinnedParallelism || f.isPinnedRate;

/** FlowActs pause a key, pin its limits, or begin a new window. */
export function FlowActs({ of: f, again, pin, large }: { of: Flow; again: () => void; pin: () => void; large?: true }) {
  const kind = large ? undefined : "quiet",
    post = (what: string) => json(`/v2/flowControl/${name(f.flowControlKey)}/${what}`, { method: "POST" }),
    change = (what: string, done: string, back?: string) =>
      act(
        done,
        () => post(what).then(again),
        () => (back ? { name: "Undo", undo: () => post(back).then(again) } : undefined),
      );
  return (
    <>
      <Button
        kind={kind}
        onClick={() => (f.isPaused ? change("resume", "Resumed", "pause") : change("pause", "Paused", "resume"))}
      >
        {f.isPaused ? "Resume" : "Pause"}
      </Button>
      <Button
        kind={kind}
        onClick={() => (isPinned(f) ? change("unpin?parallelism=true&rate=true", "Unpinned") : pin())}
      >
        {isPinned(f) ? "Unpin" : "Pin"}
      </Button>
      {f.rateMax > 0 && (
        <Button
          kind={kind}
          onClick={() =>
            sure({
              title: "Start a new window",
              text: (
                <p>
                  What was counted in this window is forgotten: {count(f.waitListSize)} waiting ones may start at once.
                </p>
              ),
              verb: "Start the window",
              go: () => post("resetRate").then(again),
            })
          }
        >
          New window
        </Button>
      )}
    </>
  );
}

export function One({ id }: { id: string }) {
  const [pinning, open] = useState(false);
  const flow = useLoad(
    (poll) => found<Flow>(`/v2/flowControl/${name(id)}?explain=true&tenants=true&count=100`, poll),
    [id],
    3000,
  );
  return (
    <Page
      title="Flow-control key"
      sub={
        <>
          <A to="/flow">Flow control</A> / <B of={id} />
        </>
      }
      acts={flow.data && mayWrite() && <FlowActs of={flow.data} again={flow.again} pin={() => open(true)} large />}
    >
      <Loaded of={flow} isEmpty={(f) => !f} empty={<None id={id} />}>
        {(f) => f && <Limits of={f} />}
      </Loaded>
      {flow.data?.tenants && <Tenants of={flow.data.tenants} total={flow.data.tenantCount ?? 0} />}
      <Traffic of={{ flowControlKey: id }} />
      {pinning && flow.data && <Pin f={flow.data} close={() => open(false)} done={flow.again} />}
    </Page>
  );
}

const None = ({ id }: { id: string }) => (
  <Card>
    <Empty icon="flow" title="The key is not in use">
      {plain(id)} has nothing that waits or runs, and no limit that is pinned.
    </Empty>
  </Card>
);

const Limits = ({ of: f }: { of: Flow }) => (
  <>
    {f.waitListSize > 0 && <Waits of={f.explain} />}
    <Card>
      <Facts
        of={[
          ["State", <Badge tone={f.isPaused ? "warn" : "good"}>{f.isPaused ? "paused" : "open"}</Badge>],
          [
            "Paused by",
            f.pausedBy && (
              <A to="/messages" q={{ id: f.pausedBy }}>
                {f.pausedBy}
              </A>
            ),
          ],
          ["Waiting", count(f.waitListSize)],
          ["Running", `${count(f.parallelismCount)} of ${f.parallelismMax || "∞"}`],
          ["In this window", inWindow(f)],
          ["Window began", <Window of={f} />],
          ["Tokens left", f.burst && `${count(f.tokens ?? 0)} of ${count(f.burst)}`],
          ["Limits", isPinned(f) ? "pinned" : "those of its latest message"],
        ]}
      />
    </Card>
  </>
);
