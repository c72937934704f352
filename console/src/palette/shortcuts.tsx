// Keys of the whole console: the palette, jumps to views, and their list.
import { useEffect, useState } from "preact/hooks";
import type { Who } from "../api";
import { go } from "../router";
import { Dialog } from "../ui/dialogs";
import { views } from "../views";
import { jumps } from "./choices";
import { Palette } from "./palette";

/** writes reports whether a key belongs to what has the focus, be it inside a shadow tree. */
export const writes = (e: KeyboardEvent) => {
  const [at] = e.composedPath();
  return at instanceof Element && !!at.closest("input, textarea, select, dialog, [contenteditable], [role=slider]");
};

/** Shortcuts listens to the keys, and shows the palette or the list of keys. */
export function Shortcuts({ me, act }: { me: Who; act: (name: string) => void }) {
  const [shown, show] = useState<"" | "palette" | "help">("");
  useEffect(() => {
    const never = Number.NEGATIVE_INFINITY; // a page that has just been loaded counts time from 0
    let after = never; // the time of a g
    const key = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        if (document.querySelector("dialog[open]")) return;
        show("palette");
      } else if (writes(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      else if (e.key === "?") show("help");
      else if (e.key === "g") {
        after = e.timeStamp;
        return;
      } else if (e.timeStamp - after < 1500 && jumps[e.key]) {
        after = never;
        go(jumps[e.key]);
      } else return;
      e.preventDefault();
    };
    const open = () => show("palette");
    addEventListener("keydown", key);
    addEventListener("palette", open);
    return () => {
      removeEventListener("keydown", key);
      removeEventListener("palette", open);
    };
  }, []);
  const close = () => show("");
  if (shown === "palette")
    return <Palette me={me} close={close} act={(name) => (name === "help" ? show("help") : act(name))} />;
  return shown ? <Help me={me} close={close} /> : null;
}

const Help = ({ me, close }: { me: Who; close: () => void }) => (
  <Dialog title="Keyboard shortcuts" close={close}>
    <dl class="shortcuts">
      <Keys of="Ctrl K" does="Go to a view, a key, a message or a run" />
      <Keys of="?" does="This list" />
      <Keys of="Esc" does="Close what is open" />
      {me.messages === "all" && <Keys of="f" does="Fork the run that is shown, from the selected step" />}
      {Object.entries(jumps).map(([letter, path]) => {
        const view = views.find((v) => v.path === path);
        return view?.may(me) && <Keys key={letter} of={`g ${letter}`} does={view.name} />;
      })}
    </dl>
  </Dialog>
);

const Keys = ({ of, does }: { of: string; does: string }) => (
  <div>
    <dt>
      {of.split(" ").map((k) => (
        <kbd key={k}>{k}</kbd>
      ))}
    </dt>
    <dd>{does}</dd>
  </div>
);
