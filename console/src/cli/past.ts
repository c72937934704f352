// The lines of before, which the arrow keys go through. Lines that may hold a secret are not kept.
const secret = /^\s*(auth|hello|acl|config\s+set)\b/i;
const place = "trireme-history",
  most = 200;

/** past are the lines of this session, the oldest first. */
export function past(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? "[]");
  } catch {
    return [];
  }
}

/** kept is past with a line at its end. */
export function kept(before: string[], line: string): string[] {
  if (secret.test(line)) return before;
  const lines = [...before.filter((h) => h !== line), line].slice(-most);
  sessionStorage.setItem(place, JSON.stringify(lines));
  return lines;
}

/** masked is a line as it may be shown. */
export const masked = (line: string) => (secret.test(line) ? `${line.split(/\s+/).slice(0, 2).join(" ")} …` : line);
