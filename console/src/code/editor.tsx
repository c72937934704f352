// An editor of code. Until its parts are loaded, or if they can't be, a plain one.
import { useEffect, useRef, useState } from "preact/hooks";
import { Area } from "../ui/controls";
import type { Language } from "./mirror";

type Props = { text: string; onText: (text: string) => void; language: Language; label: string };

export function CodeEditor({ text, onText, language, label }: Props) {
  const box = useRef<HTMLDivElement>(null),
    tell = useRef(onText),
    now = useRef(text);
  const [ready, be] = useState(false);
  tell.current = onText;
  now.current = text;
  useEffect(() => {
    let stop: (() => void) | undefined,
      on = true;
    import("./mirror").then(
      ({ mirror }) => {
        const host = box.current;
        if (!on || !host) return;
        const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
        const view = mirror(root, { text: now.current, language, label, tell: (t) => tell.current(t) });
        stop = () => view.destroy();
        be(true);
      },
      () => {},
    );
    return () => {
      on = false;
      stop?.();
    };
  }, [language]);
  return (
    <div class="code-editor">
      {!ready && <Area aria-label={label} value={text} onText={onText} rows={14} />}
      <div ref={box} hidden={!ready} data-code={label} />
    </div>
  );
}
