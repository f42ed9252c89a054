/** What a call came to, as text: a string that it resolved to, anything else as JSON, or the error it failed with. */
export async function outcome(call: () => unknown): Promise<string> {
  try {
    const value = await call();
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
  } catch (error) {
    return String(error);
  }
}
