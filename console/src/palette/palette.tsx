// The palette: views, acts, and what a typed text may be, by the keyboard.
import { useEffect, useRef, useState } from "preact/hooks";
import { list, plain, poll, strs, type Who } from "../api";
import { go } from "../router";
import { Dialog } from "../ui/dialogs";
import { Icon } from "../ui/icons";
import { type Choice, choices } from "./choices";

const mostKeys = 6;

/** Palette goes where somebody chooses; acts are done by act. */
export function Palette({ me, close, act }: { me: Who; close: () => void; act: (name: string) => void }) {
  const [text, type] = useState(""),
    [at, point] = useState(0),
    keys = useKeys(text, me),
    all = choices(text, me, keys);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const here = Math.min(at, all.length - 1);
  const take = (c: Choice | undefined) => {
    if (!c) return;
    close();
    if (c.to) go(...c.to);
    else if (c.act) act(c.act);
  };
  const key = (e: KeyboardEvent) => {
    const next = { ArrowDown: here + 1, ArrowUp: here - 1 }[e.key];
    if (e.key === "Enter") take(all[here]);
    else if (next !== undefined) point((next + all.length) % all.length);
    else return;
    e.preventDefault();
  };
  useEffect(() => document.getElementById(`choice-${here}`)?.scrollIntoView({ block: "nearest" }), [here]);
  return (
    <Dialog title="Go to" close={close} light>
      <input
        ref={field}
        class="palette-text"
        type="text"
        role="combobox"
        aria-label="A view, an act, a key, an id, a label or a URL"
        placeholder="A view, an act, a key, an id, a label or a URL"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={all.length ? `choice-${here}` : undefined}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={(e) => {
          type(e.currentTarget.value);
          point(0);
        }}
        onKeyDown={key}
      />
      <div id="choices" class="choices" role="listbox" aria-label="Choices">
        {all.map((c, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the keys.
          <div
            key={c.id}
            id={`choice-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === here}
            onClick={() => take(c)}
            onPointerMove={() => point(i)}
          >
            <Icon name={c.icon} />
            <span>{c.name}</span>
            <bdi class="dim">{plain(c.hint).slice(0, 120)}</bdi>
          </div>
        ))}
      </div>
      {!all.length && <p class="dim">Nothing has that name.</p>}
    </Dialog>
  );
}

/** useKeys are some keys that begin with a text, a moment after it was typed. */
function useKeys(text: string, me: Who): string[] {
  const [keys, put] = useState<string[]>([]);
  useEffect(() => {
    put([]);
    if (!me.keyspace || text.trim().length < 2) return;
    let over = false;
    const wait = setTimeout(async () => {
      const match = `${text.trim().replace(/[\\*?[\]]/g, "\\$&")}*`,
        reply = await poll("SCAN", "0", "MATCH", match, "COUNT", "1000").catch(() => undefined); // who may not scan
      if (!over) put(strs(list(reply)[1]).sort().slice(0, mostKeys));
    }, 150);
    const stop = () => {
      over = true;
      clearTimeout(wait);
    };
    return stop;
  }, [text]);
  return keys;
}
