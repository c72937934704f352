// Colours, sizes of text, spaces and icons.
import { Icon, iconNames } from "../ui/icons";
import { Card } from "../ui/layout";

const colours = [
  "bg",
  "card",
  "raised",
  "hover",
  "code",
  "ink",
  "dim",
  "line",
  "line-strong",
  "accent",
  "accent-ink",
  "accent-soft",
  "accent-text",
  "second",
  "good",
  "good-soft",
  "warn",
  "warn-soft",
  "bad",
  "bad-soft",
  "info",
  "info-soft",
];
const sizes: [string, string][] = [
  ["t0", "Captions, column heads, badges"],
  ["t1", "Tables, buttons, labels"],
  ["t2", "Text"],
  ["t3", "Heads of cards"],
  ["t4", "The head of a page"],
  ["t5", "A figure that stands alone"],
];
const spaces = ["s1", "s2", "s3", "s4", "s5", "s6", "s7"];

export const Colours = () => (
  <Card title="Colours">
    <div class="swatches">
      {colours.map((name) => (
        <div key={name} class="swatch">
          <svg viewBox="0 0 40 24" aria-hidden="true">
            <rect width="40" height="24" rx="4" class="sample" fill={`var(--${name})`} />
          </svg>
          <code>{name}</code>
        </div>
      ))}
    </div>
  </Card>
);

export const Type = () => (
  <Card title="Sizes of text">
    {sizes.map(([name, use]) => (
      <p key={name} class={`type-${name}`}>
        {use} <code>{name}</code>
      </p>
    ))}
    <p class="mono">JetBrains Mono: keys, ids, bodies, code 0O 1lI</p>
  </Card>
);

export const Spaces = () => (
  <Card title="Spaces">
    {spaces.map((name) => (
      <div key={name} class="space">
        <code>{name}</code>
        <span class={`bar-${name}`} />
      </div>
    ))}
  </Card>
);

export const Icons = () => (
  <Card title="Icons">
    <div class="swatches">
      {iconNames.map((name) => (
        <div key={name} class="swatch">
          <Icon name={name} />
          <code>{name}</code>
        </div>
      ))}
    </div>
  </Card>
);
