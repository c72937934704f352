// One message: why it waits, its timeline, its request.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { figure, msSpan } from "../format";
import { Button, Copy } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Facts, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Body, Headers } from "../ui/text";
import { Ago } from "../ui/time";
import { type Event, type Kept, mayWrite, runNow, text64, tone } from "./event";
import { asForm, curl, Publish } from "./publish";

export function Message({ id }: { id: string }) {
  const [again, republish] = useState(false);
  const view = useLoad(
    async (poll) => {
      const events = (
        await json<{ events: Event[] }>(
          `/v2/events?count=1000&order=earliestFirst&messageId=${encodeURIComponent(id)}`,
          { poll },
        )
      ).events;
      const over = events.some((e) => /DELIVERED|FAILED|CANCELED/.test(e.state));
      const message =
        over || !events.length
          ? null
          : await json<Kept>(`/v2/messages/${encodeURIComponent(id)}?explain=true`, { poll }).catch(() => null);
      return { events: [...events].sort((a, b) => a.time - b.time), message };
    },
    [id],
    2000,
  );
  return (
    <Loaded
      of={view}
      isEmpty={(d) => !d.events.length && !d.message}
      empty={
        <Page title="Message">
          <Card>
            <Empty
              icon="messages"
              title="Message not found"
              act={
                <A to="/messages" class="button">
                  All messages
                </A>
              }
            >
              {id} was never published here, or is kept no longer.
            </Empty>
          </Card>
        </Page>
      }
    >
      {({ events, message }) => {
        const last: Event | undefined = events[events.length - 1],
          e = last ?? message,
          why = message?.explain;
        if (!e) return null;
        const body = last ? text64(last.body) : (e.body ?? text64(message?.bodyBase64));
        return (
          <Page
            title="Message"
            sub={
              <>
                <A to="/messages">Messages</A> / <span class="mono">{id}</span>
              </>
            }
            acts={
              mayWrite() && (
                <>
                  <Copy
                    label="Copy as curl"
                    text={() => {
                      const f = asForm(e);
                      return curl(
                        "POST",
                        `/v2/publish/${f.to}`,
                        Object.fromEntries(
                          f.headers
                            .split("\n")
                            .filter(Boolean)
                            .map((l) => [`Svc-Forward-${l.split(":")[0]}`, l.slice(l.indexOf(":") + 1).trim()]),
                        ),
                        f.body,
                      );
                    }}
                  />
                  <Button onClick={() => republish(true)}>Edit and republish</Button>
                  {/^(delay|backoff)$/.test(why?.reason ?? "") && !e.queueName && (
                    <Button onClick={() => runNow(id).then(view.again)}>Run now</Button>
                  )}
                  {message && (
                    <Button
                      class="bad"
                      onClick={() =>
                        sure({
                          title: "Cancel this message",
                          text: <p>It will not be delivered. An attempt under way may still arrive at {e.url}.</p>,
                          verb: "Cancel the message",
                          done: "Canceled",
                          go: () =>
                            json(`/v2/messages/${encodeURIComponent(id)}`, { method: "DELETE" }).then(view.again),
                        })
                      }
                    >
                      Cancel
                    </Button>
                  )}
                </>
              )
            }
          >
            {why && (
              <Note kind={why.reason === "retrying" || /pause|wait|flow|queue/.test(why.reason) ? "warn" : "info"}>
                <b>Why it waits</b>: {plain(why.text)}
                {why.next && (
                  <>
                    {" "}
                    Next attempt: <Ago at={why.next} />.
                  </>
                )}
              </Note>
            )}
            <Card>
              <Facts
                of={[
                  ["State", <Badge tone={tone(last?.state ?? "CREATED")}>{last?.state ?? "CREATED"}</Badge>],
                  ["Destination", <bdi>{plain(e.url ?? "")}</bdi>],
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
                  ["Retries", String(e.maxRetries)],
                  ["Timeout", e.timeout ? figure("/v2/events", "timeout", e.timeout) : ""],
                  ["Callback", e.callback],
                  ["Failure callback", e.failureCallback],
                  ["Caller's address", e.callerIP],
                ]}
              />
            </Card>
            <div class="two">
              <Card title="Timeline">
                <ol class="timeline">
                  {events.map((x, i) => (
                    <li key={i} class={tone(x.state)}>
                      <header>
                        <b>{x.state}</b>
                        <span class="dim">{figure("/v2/events", "time", x.time)}</span>
                        {i > 0 && <span class="dim">+{msSpan(x.time - events[i - 1].time)}</span>}
                        {!!x.responseStatus && (
                          <Badge tone={x.responseStatus < 300 ? "good" : "bad"}>{x.responseStatus}</Badge>
                        )}
                      </header>
                      {x.error && (
                        <div>
                          <bdi>{plain(x.error).slice(0, 2000)}</bdi>
                        </div>
                      )}
                      {!!x.nextDeliveryTime && x.state !== "DELIVERED" && (
                        <div class="dim">
                          next attempt at {figure("/v2/events", "nextDeliveryTime", x.nextDeliveryTime)}
                        </div>
                      )}
                      {(x.responseBody || x.responseHeaders) && (
                        <details>
                          <summary>Answer</summary>
                          <Headers of={x.responseHeaders} />
                          <Body label="Answer" text={text64(x.responseBody)} />
                        </details>
                      )}
                    </li>
                  ))}
                </ol>
              </Card>
              <div>
                <Card title="Request">
                  <h3>Headers</h3>
                  <Headers of={e.header} />
                  <br />
                  <h3>Body</h3>
                  <Body label="Body of the request" text={body} />
                </Card>
              </div>
            </div>
            {again && (
              <Publish
                title="Edit and republish"
                from={
                  last ?? {
                    ...e,
                    body: message?.bodyBase64 ?? btoa(String.fromCharCode(...new TextEncoder().encode(e.body ?? ""))),
                  }
                }
                close={() => republish(false)}
                done={() => {}}
              />
            )}
          </Page>
        );
      }}
    </Loaded>
  );
}
