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

// relay has a handler of the SDK answer a request of node:http.
export async function relay(handler, base, req, res, body) {
  const request = new Request(base + req.url, { method: req.method, headers: req.headers, body: body.length ? body : undefined });
  const answer = await handler({ request, url: new URL(request.url) });
  res.writeHead(answer.status, Object.fromEntries(answer.headers));
  res.end(Buffer.from(await answer.arrayBuffer()));
  return answer.status;
}
