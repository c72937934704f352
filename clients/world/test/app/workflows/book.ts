// tell reports to the test program, and waits for its answer: how a test sees a step, or holds it.
export async function tell(what: string, data: unknown = null): Promise<unknown> {
  const answer = await fetch(`${process.env.BOOK_URL}/${encodeURIComponent(what)}`, {
    method: "POST",
    body: JSON.stringify(data),
  });
  if (!answer.ok) throw new Error(`the book answered ${answer.status}`);
  return answer.json();
}
