// Changes of the nodes of a cluster: one leaves, or another takes its place.
import { useState } from "preact/hooks";
import { json } from "../api";
import { things } from "../format";
import type { ClusterStatus, Node } from "../overview/cluster";
import { Button, Choose, Field } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { act } from "../ui/toasts";

export function remove(n: Node, c: ClusterStatus, again: () => Promise<void>) {
  const voters = c.nodes.filter((o) => o.suffrage === "voter").length;
  const few = n.suffrage === "voter" && voters <= 3;
  sure({
    title: `Remove ${n.id} from the cluster`,
    name: n.id,
    verb: "Remove",
    done: `${n.id} is removed`,
    text: (
      <>
        <p>
          {n.id} leaves the cluster, which has {things(voters - (n.suffrage === "voter" ? 1 : 0), "voter")} then. Its
          data stay on its disk, and it can't come back with them.
        </p>
        {few && (
          <p>
            <b>
              Fewer than three voters stay: this is done by force, and the loss of one more node may stop the cluster.
            </b>
          </p>
        )}
      </>
    ),
    go: () =>
      json(`/admin/cluster/nodes/${encodeURIComponent(n.id)}${few ? "?force=true" : ""}`, { method: "DELETE" }).then(
        again,
      ),
  });
}

export function Replace({
  node,
  c,
  close,
  again,
}: {
  node: Node;
  c: ClusterStatus;
  close: () => void;
  again: () => Promise<void>;
}) {
  const spare = c.nodes.filter((o) => o.suffrage !== "voter").map((o) => o.id);
  const [by, put] = useState(spare[0] ?? "");
  return (
    <Dialog title={`Replace ${node.id}`} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (
            await act(`${by} has taken the place of ${node.id}`, () =>
              json(`/admin/cluster/nodes/${encodeURIComponent(node.id)}/replace`, { data: { with: by } }),
            )
          ) {
            close();
            again();
          }
        }}
      >
        <Field label="By the node">
          <Choose of={spare} value={by} onText={put} />
        </Field>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="bad">
            Replace
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
