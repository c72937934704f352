// Texts of any length and kind: values, bodies, headers.
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { lines, plain } from "../api";
import { bytes } from "../format";
import { Button, Copy } from "./controls";

/** Url shows an address that may break behind its marks, not within words. */
export const Url = ({ of, most = 2000 }: { of?: string; most?: number }) => (
  <bdi>
    {plain((of ?? "").slice(0, most))
      .split(/(?<=[/?&=.,:_-])(?=[^/])/)
      .map((part, i) => (
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
  </bdi>
);

const most = 65536;
/** Code shows text of any length; of long text the beginning, until somebody asks for more. */
export function Code({ text, label, tall }: { text: string; label: string; tall?: boolean }) {
  const [all, put] = useState(most);
  const copy = plain(lines(text.slice(0, all)));
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label} class={tall ? "tall" : ""}>
        <bdi>{copy}</bdi>
      </pre>
      <div class="code-acts">
        {text.length > all && (
          <Button kind="quiet" onClick={() => put(all * 8)}>
            Show more ({bytes(text.length - all)} left)
          </Button>
        )}
        <Copy text={text} />
      </div>
    </div>
  );
}
/** Bytes of a body: JSON is laid out. */
export function Body({ text, label }: { text: string; label: string }) {
  const [raw, put] = useState(false);
  let nice = text;
  if (!raw && text.length < 1 << 20)
    try {
      nice = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      /* not JSON */
    }
  if (!text) return <p class="dim">empty</p>;
  return (
    <>
      {nice !== text || raw ? (
        <label class="check">
          <input type="checkbox" checked={raw} onChange={() => put(!raw)} /> Show as received
        </label>
      ) : null}
      <Code text={nice} label={label} />
    </>
  );
}
export function Headers({ of }: { of?: Record<string, string[] | string> }) {
  const rows = Object.entries(of ?? {})
    .flatMap(([name, v]) => (Array.isArray(v) ? v : [v]).map((one) => [name, one] as const))
    .slice(0, 500);
  if (!rows.length) return <p class="dim">none</p>;
  return (
    <dl class="headers">
      {rows.map(([n, v], i) => (
        <div key={i}>
          <dt>
            <bdi>{plain(n)}</bdi>
          </dt>
          <dd>
            <bdi>{plain(String(v)).slice(0, 2000)}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
