// The state of a run, as its steps have set it, and the updates that it accepts.
import { count, figure } from "../format";
import { Card, Facts } from "../ui/layout";
import { Body } from "../ui/text";
import type { State } from "./reply";

export function StateOf({ state: s }: { state: State }) {
  const path = "/v2/workflows/runs/{workflowRunId}/state";
  return (
    <Card title="State">
      <Body label="State" text={JSON.stringify(s.state)} />
      <Facts
        of={[
          ["Version", count(s.version)],
          ["Set by step", s.stepName || String(s.stepId)],
          ["Set", figure(path, "updatedAt", s.updatedAt)],
          [
            "Accepts",
            Object.entries(s.updates ?? {})
              .map(([name, rule]) => (rule ? `${name} if ${rule}` : name))
              .join("; "),
          ],
        ]}
      />
    </Card>
  );
}
