// What a request brings, or null if its sender goes before the end, as a node does that is killed.
export async function bodyOf(req) {
  const parts = [];
  try {
    for await (const part of req) parts.push(part);
  } catch {
    return null;
  }
  return Buffer.concat(parts);
}
