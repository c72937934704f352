// Why a queue or a flow-control key waits, and how names are shown.
import { json, plain } from "../api";
import { Dialog } from "../ui/dialogs";
import { Badge, Note } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import type { Explanation } from "./event";

export const name = (s: string) => encodeURIComponent(s);
export const B = ({ of }: { of?: string }) => <bdi>{plain(of ?? "–").slice(0, 300)}</bdi>;
export function Why({ path, title, close }: { path: string; title: string; close: () => void }) {
  const one = useLoad<{ explain?: Explanation }>(() => json(path), [path]);
  return (
    <Dialog title={title} close={close}>
      <Loaded of={one}>
        {(d) => (
          <>
            {d.explain ? (
              <>
                <p>
                  <Badge tone="info">{d.explain.reason}</Badge>
                </p>
                <p>{plain(d.explain.text ?? "")}</p>
                {d.explain.next && (
                  <p>
                    Next: <Ago at={d.explain.next} />
                  </p>
                )}
              </>
            ) : (
              <p>Nothing is kept waiting.</p>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

/** Waits says why the first of what waits does so. */
export const Waits = ({ of: why }: { of?: Explanation }) =>
  why ? (
    <Note kind={/pause/.test(why.reason) ? "warn" : "info"}>
      <b>Why it waits</b>: {plain(why.text)}.
      {why.next && (
        <>
          {" "}
          Next: <Ago at={why.next} />.
        </>
      )}
    </Note>
  ) : null;
