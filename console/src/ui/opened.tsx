// A view that is loaded when it is opened.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { View } from "../views";
import { Button } from "./controls";
import { Empty, Page } from "./layout";

const loaded = new Map<string, ComponentType>();

/** Opened shows a view. Its file may be gone when the node was replaced by one of another version meanwhile. */
export function Opened({ view }: { view: View }) {
  const [failed, fail] = useState(false),
    [, turn] = useState(0);
  const Show = loaded.get(view.path);
  useEffect(() => {
    if (loaded.has(view.path)) return;
    view.load().then(
      (component) => {
        loaded.set(view.path, component);
        turn((n) => n + 1);
      },
      () => fail(true),
    );
  }, [view]);
  if (Show) return <Show />;
  if (failed)
    return (
      <Page title={view.name}>
        <Empty
          icon="refresh"
          title="This view could not be loaded"
          act={<Button onClick={() => location.reload()}>Load the page again</Button>}
        >
          The node may be away, or may have another version now than the page that is open.
        </Empty>
      </Page>
    );
  return (
    <div class="loading" role="status">
      <span class="spin" aria-hidden="true" /> Loading
    </div>
  );
}
