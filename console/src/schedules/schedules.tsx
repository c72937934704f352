// Schedules.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { mayWrite } from "../messages/event";
import { B } from "../messages/why";
import { query } from "../router";
import { Button } from "../ui/controls";
import { First } from "../ui/first";
import { A, Badge, Card, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";
import { inWords } from "./in-words";
import { One, type Schedule } from "./schedule";
import { ScheduleActs } from "./schedule-acts";
import { ScheduleForm } from "./schedule-form";

export function Schedules() {
  const id = query.value.get("id");
  return id ? <One id={id} key={id} /> : <List />;
}

function List() {
  const list = useLoad<Schedule[]>((poll) => json("/v2/schedules", { poll }), [], 5000);
  const [edit, open] = useState<Partial<Schedule> | null>(null);
  return (
    <Page
      title="Schedules"
      sub="Messages that are published again and again"
      acts={
        mayWrite() && (
          <Button kind="main" icon="plus" onClick={() => open({})}>
            New schedule
          </Button>
        )
      }
    >
      <Loaded
        of={list}
        isEmpty={(d) => !d.length}
        empty={
          <First
            icon="schedules"
            title="There are no schedules"
            act={
              mayWrite() && (
                <Button kind="main" icon="plus" onClick={() => open({})}>
                  Create the first schedule
                </Button>
              )
            }
            shell="trireme schedules create https://example.com/report --cron '0 9 * * *' --id daily-report"
            service="Messages"
          >
            A schedule publishes a message by a cron expression, in a time zone of your choice.
          </First>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Schedules"
              rows={d}
              id={(s) => s.scheduleId}
              columns={[
                {
                  name: "Schedule",
                  class: "main-cell",
                  of: (s) => (
                    <>
                      <A to="/schedules" q={{ id: s.scheduleId }}>
                        <B of={s.scheduleId} />
                      </A>
                      <div class="dim">
                        <B of={s.destination} />
                      </div>
                      {s.error && <Badge tone="bad">{s.error}</Badge>}
                    </>
                  ),
                },
                {
                  name: "When",
                  of: (s) => (
                    <>
                      {inWords(s.cron)}
                      <div class="dim mono">{plain(s.cron)}</div>
                    </>
                  ),
                },
                {
                  name: "State",
                  of: (s) => <Badge tone={s.isPaused ? "warn" : "good"}>{s.isPaused ? "paused" : "on"}</Badge>,
                },
                { name: "Last", of: (s) => <Ago at={s.lastScheduleTime} /> },
                { name: "Next", of: (s) => (s.isPaused ? "–" : <Ago at={s.nextScheduleTime} />) },
                {
                  name: "-Actions",
                  class: "acts-cell",
                  of: (s) => (
                    <>
                      <A to="/messages" q={{ scheduleId: s.scheduleId }} class="button quiet">
                        Messages
                      </A>
                      {mayWrite() && <ScheduleActs of={s} again={list.again} edit={() => open(s)} gone={list.again} />}
                    </>
                  ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      {edit && <ScheduleForm s={edit} close={() => open(null)} done={list.again} />}
    </Page>
  );
}
