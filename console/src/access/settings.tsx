// Settings of the cluster.
import { useState } from "preact/hooks";
import { json } from "../api";
import { type Answer, anyFigure } from "../format";
import { Button, Field, Text } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { Card, Facts } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { act } from "../ui/toasts";

export function Settings() {
  return (
    <div>
      {(
        [
          ["/admin/settings", "Limits of the keyspace"],
          ["/admin/settings/messages", "Messages"],
          ["/admin/settings/workflows", "Workflows"],
        ] as const
      ).map(([path, title]) => (
        <SettingsCard key={path} path={path} title={title} />
      ))}
    </div>
  );
}

function SettingsCard({ path, title }: { path: Answer & `/admin/settings${string}`; title: string }) {
  const now = useLoad<Record<string, unknown>>(() => json(path), [path]);
  const [edit, open] = useState<Record<string, string> | null>(null);
  return (
    <Card
      title={title}
      acts={
        now.data && (
          <Button
            kind="quiet"
            icon="edit"
            onClick={() => open(Object.fromEntries(Object.entries(now.data ?? {}).map(([n, v]) => [n, String(v)])))}
          >
            Edit
          </Button>
        )
      }
    >
      <Loaded of={now}>
        {(d) => (
          <Facts
            of={Object.entries(d).map(([n, v]) => [
              n,
              typeof v === "number" ? anyFigure(path, n, v, "none") : String(v),
            ])}
          />
        )}
      </Loaded>
      {edit && (
        <Dialog title={title} close={() => open(null)} wide>
          <form
            onSubmit={async (e) => {
              e.preventDefault();
              const was = now.data ?? {},
                data = Object.fromEntries(
                  Object.entries(edit)
                    .filter(([n, v]) => v !== String(was[n]))
                    .map(([n, v]) => [n, typeof was[n] === "number" ? Number(v) : v]),
                );
              if (await act("Changed", () => json(path, { data }))) {
                open(null);
                now.again();
              }
            }}
          >
            <p class="dim">
              Bytes, milliseconds, percent and numbers, by their names (0: none). They hold on all nodes at once.
            </p>
            <br />
            <div class="form">
              {Object.entries(edit).map(([n, v]) => (
                <Field key={n} label={n}>
                  <Text value={v} onText={(t) => open({ ...edit, [n]: t })} />
                </Field>
              ))}
            </div>
            <footer>
              <Button onClick={() => open(null)}>Cancel</Button>
              <Button type="submit" kind="main">
                Change
              </Button>
            </footer>
          </form>
        </Dialog>
      )}
    </Card>
  );
}
