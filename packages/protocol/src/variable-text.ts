/** Returns the text of an environment variable without blanks at its ends: empty where it is not set. */
export function variableText(variable: unknown): string {
  return typeof variable === "string" ? variable.trim() : "";
}
