// One trigger: what it is, how it fares, and what it has made.
import { useState } from "preact/hooks";
import { database, run, show, signedIn } from "../api";
import { keyQuery } from "../data/tree";
import { count, msSpan, things } from "../format";
import { Traffic } from "../messages/traffic";
import { go, type Query } from "../router";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Facts, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Url } from "../ui/text";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { Changes } from "./changes";
import { type Trigger, to, trigger } from "./load";
import { TriggerForm } from "./trigger-form";

export const State = ({ of: t }: { of: Trigger }) => (
  <Badge tone={t.paused ? "warn" : "good"}>{t.paused ? "paused" : "on"}</Badge>
);

/** Target says what a trigger makes of a change. */
export const Target = ({ of: t }: { of: Trigger }) =>
  t.to === "stream" ? (
    <>
      entries of{" "}
      <A to="/data" q={to(keyQuery(t.stream))}>
        <bdi class="mono">{show(t.stream)}</bdi>
      </A>
    </>
  ) : (
    <>
      {t.to === "run" ? "runs at " : "messages to "}
      <Url of={show(t.destination)} most={300} />
    </>
  );

/** TriggerActs pause a trigger, edit it, delete it. A feed is not paused: its readers have places in it. */
export function TriggerActs({ of: t, again, gone, large }: ActProps) {
  const kind = large ? undefined : "quiet",
    [editing, open] = useState(false),
    post = (what: string) => run(`TRIGGER.${what}`, t.name).then(again),
    [on, off] = t.paused ? ["RESUME", "PAUSE"] : ["PAUSE", "RESUME"];
  return (
    <>
      {t.to !== "stream" && (
        <Button
          kind={kind}
          onClick={() =>
            act(
              t.paused ? "Resumed" : "Paused",
              () => post(on),
              () => ({ name: "Undo", undo: () => post(off) }),
            )
          }
        >
          {t.paused ? "Resume" : "Pause"}
        </Button>
      )}
      <Button kind={kind} onClick={() => open(true)}>
        Edit
      </Button>
      <Button kind={kind} class="bad" onClick={() => remove(t, gone)}>
        Delete
      </Button>
      {editing && <TriggerForm t={t} close={() => open(false)} done={again} />}
    </>
  );
}
type ActProps = { of: Trigger; again: () => Promise<void>; gone: () => void; large?: true };

const remove = (t: Trigger, gone: () => void) =>
  sure({
    title: "Delete this trigger",
    name: show(t.name),
    verb: "Delete",
    done: "Deleted",
    text: <p>Nothing is made of changes any more. {left(t)}</p>,
    go: () => run("TRIGGER.DEL", t.name).then(gone),
  });

/** left says what becomes of what a deleted trigger has made. */
const left = (t: Trigger) =>
  t.to === "stream"
    ? "The stream and its entries stay."
    : t.paused && t.backlog
      ? `The ${things(t.backlog, t.to)} that it has made wait on: resume the trigger first to have them delivered.`
      : `The ${things(t.backlog, t.to)} that it has made and that are not done go on.`;

export function One({ name }: { name: string }) {
  const one = useLoad((polls) => trigger(name, polls), [name], 4000),
    t = one.data;
  return (
    <Page
      title="Trigger"
      sub={
        <>
          <A to="/triggers" q={to({})}>
            Triggers
          </A>{" "}
          / <bdi>{show(name)}</bdi>
        </>
      }
      acts={t && <TriggerActs of={t} again={one.again} gone={() => go("/triggers", to({}))} large />}
    >
      <Loaded of={one} isEmpty={(d) => !d} empty={<None name={name} />}>
        {(d) => d && <About of={d} />}
      </Loaded>
      {t && (t.to === "stream" ? <Changes of={t} /> : <Made of={t} />)}
    </Page>
  );
}

const None = ({ name }: { name: string }) => (
  <Card>
    <Empty icon="triggers" title="There is no such trigger">
      {show(name)} was deleted, or never made.
    </Empty>
  </Card>
);

const listed = (all: string[]) => all.map(show).join(", ") || "all";

const About = ({ of: t }: { of: Trigger }) => (
  <>
    {t.error && (
      <Note kind={t.missed ? "bad" : "warn"}>
        Nothing could be made of {things(t.missed, "change")}. The last time: {show(t.error)}.
      </Note>
    )}
    <div class="two">
      <Card title="What it makes">
        <Facts
          of={[
            ["Keys", <bdi class="mono">{show(t.prefix)}*</bdi>],
            ["Events", listed(t.events)],
            ["Types", listed(t.types)],
            ["Values", t.values.map(show).join(", ") || "none"],
            ["Makes", <Target of={t} />],
            ["Queues", t.to === "message" ? <Queues of={t} /> : null],
            ["Flow-control key", t.flowControlKey ? <FlowKey of={t} /> : null],
            ["Keeps", t.to === "stream" ? kept(t) : null],
            ["With the rights of", <bdi>{show(t.user)}</bdi>],
          ]}
        />
      </Card>
      <Card title="How it fares">
        <Facts
          of={[
            ["State", <State of={t} />],
            ["Not done", t.to === "stream" ? null : things(t.backlog, t.to)],
            ["Changes", count(t.fired)],
            ["Missed", count(t.missed)],
            ["Last change", <Ago at={t.firedAt} />],
            ["Created", <Ago at={t.createdAt} />],
            ["Changed", <Ago at={t.updatedAt} />],
          ]}
        />
      </Card>
    </div>
  </>
);

const kept = (t: Trigger) =>
  [t.maxlen && `${things(t.maxlen, "entry")} at most`, t.keepMs && `each for ${msSpan(t.keepMs)}`]
    .filter(Boolean)
    .join(", ") || "all entries";

/** sees reports whether this credential sees messages of the database that is shown. */
const sees = () => signedIn().messages !== "" && database.value === "default";

/** ownQueue is the queue of a trigger's messages; with lanes it is the beginning of their names. */
const ownQueue = (t: Trigger) => show(t.queue || `trigger.${t.name}`);

/** Link leads to what a credential sees, and is its name for others. */
const Link = ({ to, q, name }: { to: string; q: Query; name: string }) =>
  sees() ? (
    <A to={to} q={q}>
      <bdi>{name}</bdi>
    </A>
  ) : (
    <bdi>{name}</bdi>
  );

const Queues = ({ of: t }: { of: Trigger }) =>
  Array.from({ length: t.lanes }, (_, lane) => {
    const name = t.lanes > 1 ? `${ownQueue(t)}.${lane}` : ownQueue(t);
    return (
      <div key={name}>
        <Link to="/queues" q={{ name }} name={name} />
      </div>
    );
  });

const FlowKey = ({ of: t }: { of: Trigger }) => (
  <>
    <Link to="/flow" q={{ key: show(t.flowControlKey) }} name={show(t.flowControlKey)} />
    {t.to === "run" && sees() && (
      <div>
        <A to="/runs" q={{ flowControlKey: show(t.flowControlKey) }}>
          Its runs
        </A>
      </div>
    )}
  </>
);

/** Made is what went through the queue of a trigger's messages. With lanes each of them is a view of its own. */
const Made = ({ of: t }: { of: Trigger }) =>
  t.to === "message" && t.lanes === 1 && sees() ? (
    <Traffic of={{ queueName: ownQueue(t) }} open={t.queue ? undefined : t.backlog} />
  ) : null;
