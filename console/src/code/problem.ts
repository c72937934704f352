// What is wrong with a text before it is saved.

/** jsonProblem says why a text is no JSON; "" if it is some. */
export function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (e) {
    return (e as Error).message;
  }
}
