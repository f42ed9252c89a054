/** Wrangler's own lower limit; package.json says the same. */
export const NODE_VERSION_MIN = "22.12.0";

/** What to tell somebody whose Node.js is too old to run Wrangler, `null` if it is not. */
export function complaintAboutNode(version: string): string | null {
  if (version.localeCompare(NODE_VERSION_MIN, "en", { numeric: true }) >= 0) return null;
  return `Sluice needs Node.js ${NODE_VERSION_MIN} or newer, as Wrangler does. This is ${version}.`;
}
