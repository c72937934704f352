// A value in one of its formats. The modules that read them are loaded when a value is looked at.
import { useEffect, useState } from "preact/hooks";
import { show, toBytes } from "../api";
import { bytes } from "../format";
import { Note } from "../ui/layout";
import { Code } from "../ui/text";

type Formats = typeof import("./read");

/** useFormats are the modules, once they are there. */
export function useFormats(): Formats | null {
  const [all, put] = useState<Formats | null>(null);
  useEffect(() => {
    let on = true;
    import("./read").then(
      (m) => on && put(m),
      () => {},
    );
    return () => {
      on = false;
    };
  }, []);
  return all;
}

/** Value shows a byte string. Of one that is not there as a whole, most formats can't be read. */
export function Value({ of, label, size = of.length }: { of: string; label: string; size?: number }) {
  const formats = useFormats();
  const [chosen, choose] = useState<string>("");
  if (!formats) return <Code label={label} tall text={show(of)} />;
  const b = toBytes(of);
  const as = formats.formats.find((f) => f === chosen) ?? formats.guess(b);
  const shown = formats.read(b, as);
  return (
    <>
      <div class="formats">
        <div class="segments" role="group" aria-label="Show as">
          {formats.formats.map((f) => (
            <button key={f} type="button" aria-pressed={as === f} onClick={() => choose(f)}>
              {formats.formatName[f]}
            </button>
          ))}
        </div>
        <span class="dim">
          {bytes(size)}
          {size > of.length && `, the first ${bytes(of.length)} are shown`}
        </span>
      </div>
      {shown.problem ? (
        <Note kind="warn">
          This value is not {formats.formatName[as]}: {shown.problem}.
        </Note>
      ) : (
        <Code key={as} label={label} tall text={shown.text} />
      )}
    </>
  );
}
