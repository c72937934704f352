// The toasts, drawn.
import { click } from "../router";
import { Button } from "./controls";
import { Icon } from "./icons";
import { act, drop, type Follow, toasts } from "./toasts";

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map((t) => (
      <div key={t.id} class={`toast ${t.kind}`}>
        <Icon name={t.kind === "good" ? "check" : "alert"} />
        <span>{t.text}</span>
        {t.follow && <Way of={t.follow} id={t.id} />}
      </div>
    ))}
  </div>
);

const Way = ({ of, id }: { of: Follow; id: number }) =>
  "to" in of ? (
    <a
      href={of.to}
      onClick={(e) => {
        click(e);
        drop(id);
      }}
    >
      {of.name}
    </a>
  ) : (
    <Button
      kind="quiet"
      onClick={() => {
        drop(id);
        act("Undone", of.undo);
      }}
    >
      {of.name}
    </Button>
  );
