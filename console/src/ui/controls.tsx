// Buttons, fields and what is typed or chosen in them.
import type {
  ButtonHTMLAttributes,
  ComponentChildren,
  InputHTMLAttributes,
  SelectHTMLAttributes,
  TextareaHTMLAttributes,
} from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icons";
import { toast } from "./toasts";

export type Kids = { children?: ComponentChildren };

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  kind?: "main" | "bad" | "quiet";
  icon?: string;
  busy?: boolean;
};
export function Button({ kind, icon, busy, children, class: more, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={busy || rest.disabled}
      class={["button", kind, more].filter(Boolean).join(" ")}
    >
      {busy ? <span class="spin" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
export const IconButton = ({
  icon,
  label,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { icon: string; label: string }) => (
  <button type="button" {...rest} class="icon-button" aria-label={label} title={label}>
    <Icon name={icon} />
  </button>
);

export function Field({ label, help, children, wide }: Kids & { label: string; help?: string; wide?: boolean }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class={wide ? "field wide" : "field"}>
      <span>{label}</span>
      {children}
      {help && <small>{help}</small>}
    </label>
  );
}
export function Text({ onText, ...rest }: InputHTMLAttributes<HTMLInputElement> & { onText?: (text: string) => void }) {
  return (
    <input
      type="text"
      autoComplete="off"
      spellcheck={false}
      {...rest}
      onInput={(e) => onText?.(e.currentTarget.value)}
    />
  );
}
export function Area({
  onText,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { onText?: (text: string) => void }) {
  return <textarea spellcheck={false} {...rest} onInput={(e) => onText?.(e.currentTarget.value)} />;
}
export function Choose({
  of,
  onText,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { of: (string | [string, string])[]; onText: (text: string) => void }) {
  return (
    <select {...rest} onChange={(e) => onText(e.currentTarget.value)}>
      {of.map((o) => {
        const [v, t] = typeof o === "string" ? [o, o] : o;
        return (
          <option value={v} key={v}>
            {t}
          </option>
        );
      })}
    </select>
  );
}
export function Copy({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const [done, put] = useState(false);
  return (
    <Button
      kind="quiet"
      icon={done ? "check" : "copy"}
      onClick={async () => {
        await navigator.clipboard?.writeText(typeof text === "string" ? text : text()).then(
          () => {
            put(true);
            setTimeout(() => put(false), 1500);
          },
          () => toast("The browser does not allow copying here", "bad"),
        );
      }}
    >
      {done ? "Copied" : label}
    </Button>
  );
}
