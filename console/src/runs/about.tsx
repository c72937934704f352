// What a run is, in facts.
import { plain } from "../api";
import { count, figure, msSpan } from "../format";
import { tone } from "../messages/event";
import { A, Badge, Card, Facts } from "../ui/layout";
import { Url } from "../ui/text";
import { longestStep } from "./longest";
import type { RunSteps } from "./reply";

export function About({ run: r, now }: { run: RunSteps; now: number }) {
  const steps = r.steps.reduce((n, g) => n + g.steps.length, 0);
  const longest = longestStep(
    { createdAt: r.workflowRunCreatedAt, completedAt: r.workflowRunCompletedAt, groups: r.steps },
    now,
  );
  return (
    <Facts
      of={[
        [
          "State",
          <Badge tone={r.paused ? "warn" : tone(r.workflowState)}>{r.paused ? "paused" : r.workflowState}</Badge>,
        ],
        ["URL", <Url of={r.workflowUrl} />],
        ["Started", figure("/v2/workflows/logs", "workflowRunCreatedAt", r.workflowRunCreatedAt)],
        [
          "Duration",
          r.workflowRunCompletedAt
            ? msSpan(r.workflowRunCompletedAt - r.workflowRunCreatedAt)
            : `${msSpan(Math.max(0, now - r.workflowRunCreatedAt))} so far`,
        ],
        ["Steps", count(steps)],
        [
          "Longest step",
          longest && (
            <A to="/runs" q={{ id: r.workflowRunId, step: longest.pick }}>
              <bdi>{plain(longest.name).slice(0, 80)}</bdi>, {msSpan(longest.ms)}
            </A>
          ),
        ],
        ["Labels", r.labels?.map(plain).join(", ") ?? r.label],
        ["Flow-control key", r.flowControlKey],
        ["Deployment", r.deployment],
        ["Debounce", r.debounce],
        ["Singleton", r.singleton],
        ["At the end of the retries", r.onFailure],
        ["Steps act for", r.commitAs],
        [
          "Invoked by",
          r.invoker && (
            <A to="/runs" q={{ id: r.invoker.workflowRunId }}>
              {r.invoker.workflowRunId}
            </A>
          ),
        ],
        [
          "Fork of",
          r.forkedFrom && (
            <A to="/runs" q={{ id: r.forkedFrom.workflowRunId }}>
              {r.forkedFrom.workflowRunId}
            </A>
          ),
        ],
        ["Caller's address", r.workflowRunCallerIp],
      ]}
    />
  );
}

export const AfterFailure = ({ of }: { of: NonNullable<RunSteps["failureFunction"]> }) => (
  <Card title="Failure function">
    <Facts
      of={[
        ["State", of.state],
        ["Status of the failure", String(of.failStatus || "none")],
      ]}
    />
  </Card>
);
