// What a message is, in facts.
import { plain } from "../api";
import { count, figure } from "../format";
import { A, Badge, Card, Facts } from "../ui/layout";
import { Url } from "../ui/text";
import { type Event, tone } from "./event";

export const About = ({ of: e, state }: { of: Event; state: string }) => (
  <Card>
    <Facts
      of={[
        ["State", <Badge tone={tone(state)}>{state}</Badge>],
        ["Destination", <Url of={e.url} />],
        ["Method", e.method],
        [
          "Queue",
          e.queueName && (
            <A to="/queues">
              <bdi>{plain(e.queueName)}</bdi>
            </A>
          ),
        ],
        ["URL group", e.topicName],
        ["Schedule", e.scheduleId && <A to="/schedules">{e.scheduleId}</A>],
        ["Labels", e.labels?.join(", ") ?? e.label],
        [
          "Flow-control key",
          e.flowControlKey && (
            <A to="/flow" q={{ search: e.flowControlKey }}>
              <bdi>{plain(e.flowControlKey)}</bdi>
            </A>
          ),
        ],
        ["Priority", e.priority && String(e.priority)],
        ["Tenant", e.tenant && <bdi>{plain(e.tenant)}</bdi>],
        ["Cost", e.cost && count(e.cost)],
        ["Retries", String(e.maxRetries)],
        ["Timeout", e.timeout ? figure("/v2/events", "timeout", e.timeout) : ""],
        ["Callback", e.callback && <Url of={e.callback} />],
        ["Failure callback", e.failureCallback && <Url of={e.failureCallback} />],
        ["Debounce", e.debounce],
        ["Batch", e.batch],
        [
          "Delivered with the batch",
          e.batchId && (
            <A to="/messages" q={{ id: e.batchId }}>
              {e.batchId}
            </A>
          ),
        ],
        ["Singleton", e.singleton],
        ["At the end of the retries", e.onFailure],
        ["Answers act for", e.commitAs],
        ["Caller's address", e.callerIP],
      ]}
    />
  </Card>
);
