/**
 * Oldest Node.js with everything that the broker uses of `node:sqlite`. Wrangler's own limit is lower, 22.12. The
 * `package.json` of each published package has the same limit.
 */
const NEEDED = { major: 22, minor: 16 };

/**
 * Explains that a Node.js is too old, and how to install another one; `null` for a newer one. The npm package `node`
 * contains a Node.js, which `npx` prefers to that of the system.
 *
 * @param version version as in `process.versions.node`.
 */
export function nodeRefusal(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) return null;
  return (
    `sluice needs Node.js ${NEEDED.major}.${NEEDED.minor} or later, and this is ${version}. ` +
    'In a project, "npm install --save-dev node@24" installs one that "npx" takes.'
  );
}
