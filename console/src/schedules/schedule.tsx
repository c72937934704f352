// One schedule: when it publishes, what, and what became of it.
import { useState } from "preact/hooks";
import { found, plain } from "../api";
import { mayWrite } from "../messages/event";
import { Traffic } from "../messages/traffic";
import { B, name } from "../messages/why";
import { go } from "../router";
import type { Messages } from "../schemas";
import { A, Badge, Card, Empty, Facts, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Body, Headers, Url } from "../ui/text";
import { Ago } from "../ui/time";
import { Times } from "./cron";
import { inWords } from "./in-words";
import { ScheduleActs } from "./schedule-acts";
import { ScheduleForm } from "./schedule-form";

export type Schedule = Messages["Schedule"];

export function One({ id }: { id: string }) {
  const [edit, open] = useState(false);
  const one = useLoad((poll) => found<Schedule>(`/v2/schedules/${name(id)}`, poll), [id], 5000);
  return (
    <Page
      title="Schedule"
      sub={
        <>
          <A to="/schedules">Schedules</A> / <B of={id} />
        </>
      }
      acts={
        one.data &&
        mayWrite() && (
          <ScheduleActs of={one.data} again={one.again} edit={() => open(true)} gone={() => go("/schedules")} large />
        )
      }
    >
      <Loaded of={one} isEmpty={(s) => !s} empty={<None id={id} />}>
        {(s) => s && <About of={s} />}
      </Loaded>
      <Traffic of={{ scheduleId: id }} />
      {edit && one.data && <ScheduleForm s={one.data} close={() => open(false)} done={one.again} />}
    </Page>
  );
}

const None = ({ id }: { id: string }) => (
  <Card>
    <Empty icon="schedules" title="There is no such schedule">
      {plain(id)} was deleted, or never made. What it has published is below as long as it is kept.
    </Empty>
  </Card>
);

const About = ({ of: s }: { of: Schedule }) => (
  <>
    {s.error && <Note kind="bad">{plain(s.error)}</Note>}
    <div class="two">
      <Card title={inWords(s.cron) || plain(s.cron)}>
        <Facts
          of={[
            ["State", <Badge tone={s.isPaused ? "warn" : "good"}>{s.isPaused ? "paused" : "on"}</Badge>],
            ["Cron", <span class="mono">{plain(s.cron)}</span>],
            ["Destination", <Url of={s.destination} />],
            ["Method", s.method],
            ["Retries", String(s.retries)],
            ["Missed times", s.misfire],
            ["Last", s.lastScheduleTime && <Ago at={s.lastScheduleTime} />],
          ]}
        />
      </Card>
      <Card title="Next times">
        <Times of={s.isPaused ? [] : (s.nextScheduleTimes ?? [])} zone={s.timeZone} />
      </Card>
    </div>
    {(s.body || s.header) && (
      <Card title="What it publishes">
        <Headers of={s.header} />
        <Body label="Body" text={s.body ?? ""} />
      </Card>
    )}
  </>
);
