// The theme: the one of the system, or what somebody has chosen.
import { effect, signal } from "@preact/signals";

const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const kept = themes.find((t) => t === localStorage.getItem("trireme-theme")) ?? "system";
/** theme is what was chosen. */
export const theme = signal<Theme>(kept);
const dark = matchMedia("(prefers-color-scheme: dark)");
const system = signal(dark.matches);
dark.addEventListener("change", () => {
  system.value = dark.matches;
});

/** shade is what the page has now. */
export const shade = signal<"light" | "dark">("light");
effect(() => {
  shade.value = theme.value === "system" ? (system.value ? "dark" : "light") : theme.value;
  document.documentElement.dataset.theme = shade.value;
  localStorage.setItem("trireme-theme", theme.value);
});

/** nextTheme chooses the theme after the one that is chosen. */
export function nextTheme() {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length];
}
