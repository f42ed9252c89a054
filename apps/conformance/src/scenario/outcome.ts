/** What a call came to, as text: a string that it resolved to, anything else as JSON, or the error it failed with. */
export async function outcome(call: () => unknown): Promise<string> {
  try {
    const value = await call();
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
  } catch (error) {
    return String(error);
  }
}

/** The error code at the end of an error's message. */
export function codeOf(text: unknown): string {
  return /\((\d{5})\)$/.exec(String(text))?.[1] ?? String(text);
}
