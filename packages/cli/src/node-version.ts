/** The first that has all of `node:sqlite` that we use. Wrangler's own lower limit is 22.12; package.json says what this says. */
export const NODE_VERSION_MIN = "22.16.0";

/** What to tell somebody whose Node.js is too old, `null` if it is not. */
export function complaintAboutNode(version: string): string | null {
  if (version.localeCompare(NODE_VERSION_MIN, "en", { numeric: true }) >= 0) return null;
  return `Sluice needs Node.js ${NODE_VERSION_MIN} or newer. This is ${version}.`;
}
