// Events of a message, one below the other.
import { plain } from "../api";
import { figure, msSpan } from "../format";
import { Badge } from "../ui/layout";
import { Headers } from "../ui/text";
import { Answer } from "../waterfall/thrown";
import { type Event, text64, tone } from "./event";

export const Timeline = ({ of: events }: { of: Event[] }) => (
  <ol class="timeline">
    {events.map((x, i) => (
      <li key={i} class={tone(x.state)}>
        <header>
          <b>{x.state}</b>
          <span class="dim">{figure("/v2/events", "time", x.time)}</span>
          {i > 0 && <span class="dim">+{msSpan(x.time - events[i - 1].time)}</span>}
          {!!x.responseStatus && <Badge tone={x.responseStatus < 300 ? "good" : "bad"}>{x.responseStatus}</Badge>}
        </header>
        {x.error && (
          <div>
            <bdi>{plain(x.error).slice(0, 2000)}</bdi>
          </div>
        )}
        {!!x.nextDeliveryTime && x.state !== "DELIVERED" && (
          <div class="dim">next attempt at {figure("/v2/events", "nextDeliveryTime", x.nextDeliveryTime)}</div>
        )}
        {(x.responseBody || x.responseHeaders) && (
          <details>
            <summary>Answer</summary>
            <Headers of={x.responseHeaders} />
            <Answer label="Answer" text={text64(x.responseBody)} />
          </details>
        )}
      </li>
    ))}
  </ol>
);
