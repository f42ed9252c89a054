/**
 * The first line of what was thrown, for the broker's log. JavaScript throws anything, and some of it has no text: then
 * its type must do.
 */
export function firstLine(thrown: unknown): string {
  try {
    return String(thrown).split("\n", 1)[0] ?? "";
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}
