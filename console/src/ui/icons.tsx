// Icons are drawn from paths of our own on a grid of 24.
const icons: Record<string, string> = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 4v3h6V4z",
  data: "M4 6c0-4 16-4 16 0s-16 4-16 0v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0",
  code: "M8 7l-5 5 5 5M16 7l5 5-5 5M13 5l-2 14",
  find: "M10.5 4a6.5 6.5 0 100 13 6.5 6.5 0 000-13M15.5 15.5L20 20",
  triggers: "M13 3L5 14h6l-1 7 8-11h-6z",
  chart: "M4 20h16M7 16v-5M12 16V5M17 16v-8",
  cli: "M4 6l6 6-6 6M12 18h8",
  live: "M3 12h4l3-8 4 16 3-8h4",
  messages: "M3 6h18v12H3zM3 7l9 7 9-7",
  dead: "M4 5h16v14H4zM9 10l6 5M15 10l-6 5",
  queues: "M4 6h16M4 12h16M4 18h10",
  flow: "M4 5h16l-6 7v7l-4-2v-5z",
  schedules: "M12 3a9 9 0 100 18 9 9 0 000-18M12 7v5l3 2",
  groups: "M12 4v6M6 20v-4h12v4M12 10v6M10 4h4",
  keys: "M15 9a5 5 0 11-3-3l8-3-2 4 2 2-3 1z",
  runs: "M5 4v16M5 8h8M5 16h13M13 6v4M18 14v4",
  connect: "M9 7V3M15 7V3M6 7h12v5a6 6 0 01-12 0zM12 18v3",
  cluster: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5",
  access: "M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z",
  lock: "M6 11h12v9H6zM8 11V8a4 4 0 018 0v3",
  alert: "M12 4L2.5 20h19zM12 10v4M12 17v.5",
  info: "M12 3a9 9 0 100 18 9 9 0 000-18M12 11v5M12 8v.5",
  check: "M5 12l5 5 9-10",
  box: "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8",
  menu: "M4 6h16M4 12h16M4 18h16",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8M12 3v2M12 19v2M3 12h2M19 12h2M6 6l1 1M17 17l1 1M6 18l1-1M17 7l1-1",
  moon: "M20 14A8 8 0 0110 4a8 8 0 1010 10z",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  folder: "M3 6h6l2 2h10v11H3z",
  key: "M15 9a5 5 0 11-3-3l8-3-2 4 2 2-3 1z",
  close: "M6 6l12 12M18 6L6 18",
  refresh: "M19 8A8 8 0 105 15M19 3v5h-5",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  audit: "M6 3h9l4 4v14H6zM9 12h7M9 16h7",
  back: "M15 5l-7 7 7 7",
  down: "M12 4v12M7 11l5 5 5-5M5 20h14",
};
export const Icon = ({ name }: { name: string }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={icons[name] ?? icons.box} />
  </svg>
);
/** iconNames are the names of all icons. */
export const iconNames = Object.keys(icons);
