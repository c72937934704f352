// One dead letter: its last answer, its request, and the ways to send it again.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { figure } from "../format";
import { type Event, mayWrite, newMessage, newRun, type Published, text64 } from "../messages/event";
import { Publish } from "../messages/publish";
import { go } from "../router";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Facts, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Body, Headers, Url } from "../ui/text";
import { act } from "../ui/toasts";

type NewRun = { workflowRunId?: string };
export type DeadLetter = Event & {
  dlqId: string;
  createdAt: number;
  workflowUrl?: string;
  workflowRunId?: string;
  bodyBase64?: string;
  responseHeader?: Record<string, string[]>;
  responseBodyBase64?: string;
};
export type Letters = { messages: DeadLetter[]; cursor?: string };

export function Letter({ root, id, runs }: { root: string; id: string; runs: boolean }) {
  const [edit, open] = useState(false);
  const one = useLoad<DeadLetter>(() => json(`${root}/${encodeURIComponent(id)}`), [id]);
  const back = () => go("/dead", runs ? { of: "runs" } : {});
  return (
    <Page
      title="Dead letter"
      sub={
        <>
          <A to="/dead" q={runs ? { of: "runs" } : {}}>
            Dead letters
          </A>{" "}
          / <span class="mono">{id}</span>
        </>
      }
      acts={
        mayWrite() &&
        one.data && (
          <>
            {runs ? (
              <>
                <Button
                  kind="main"
                  onClick={async () => {
                    if (
                      await act(
                        "The run goes on as a new one",
                        () => json<NewRun>(`${root}/resume/${encodeURIComponent(id)}`, { method: "POST" }),
                        newRun,
                      )
                    )
                      back();
                  }}
                >
                  Resume
                </Button>
                <Button
                  onClick={async () => {
                    if (
                      await act(
                        "A new run has begun",
                        () => json<NewRun>(`${root}/restart/${encodeURIComponent(id)}`, { method: "POST" }),
                        newRun,
                      )
                    )
                      back();
                  }}
                >
                  Restart
                </Button>
              </>
            ) : (
              <>
                <Button
                  kind="main"
                  onClick={async () => {
                    if (
                      await act(
                        "Published anew",
                        () => json<Published>(`${root}/retry/${encodeURIComponent(id)}`, { method: "POST" }),
                        newMessage,
                      )
                    )
                      back();
                  }}
                >
                  Retry
                </Button>
                <Button onClick={() => open(true)}>Edit and retry</Button>
              </>
            )}
            <Button
              class="bad"
              onClick={() =>
                sure({
                  title: "Delete this dead letter",
                  text: <p>It is deleted for good: it can't be sent again.</p>,
                  verb: "Delete",
                  done: "Deleted",
                  go: () => json(`${root}/${encodeURIComponent(id)}`, { method: "DELETE" }).then(back),
                })
              }
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded of={one}>
        {(m) => (
          <>
            <Card>
              <Facts
                of={[
                  ["Destination", <Url of={m.url} />],
                  ["Method", m.method],
                  ["Answer", m.responseStatus ? <Badge tone="bad">{m.responseStatus}</Badge> : "none"],
                  ["Created", figure("/v2/dlq", "createdAt", m.createdAt)],
                  [
                    runs ? "Run" : "Message",
                    <A to={runs ? "/runs" : "/messages"} q={{ id: m.workflowRunId ?? m.messageId }}>
                      {m.workflowRunId ?? m.messageId}
                    </A>,
                  ],
                  ["Queue", m.queueName],
                  ["Error", m.error && <bdi>{plain(m.error)}</bdi>],
                  ["Labels", m.labels?.join(", ") ?? m.label],
                ]}
              />
            </Card>
            <div class="two">
              <Card title="Last answer">
                <Headers of={m.responseHeader} />
                <br />
                <Body label="Answer" text={m.responseBody || text64(m.responseBodyBase64)} />
              </Card>
              <Card title="Request">
                <Headers of={m.header} />
                <br />
                <Body label="Body" text={m.body || text64(m.bodyBase64)} />
              </Card>
            </div>
            {edit && (
              <Publish
                title="Edit and retry"
                from={{
                  ...m,
                  body: m.bodyBase64 ?? btoa(String.fromCharCode(...new TextEncoder().encode(m.body ?? ""))),
                }}
                close={() => open(false)}
                done={(sent) => {
                  if (sent)
                    act("The dead letter was replaced by the new message", () =>
                      json(`${root}/${encodeURIComponent(id)}`, { method: "DELETE" }),
                    );
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
