/** Commands of Vite and of frameworks, and whether they start a dev server. */
const COMMANDS: ReadonlyMap<string, boolean> = new Map([
  ["dev", true],
  ["serve", true],
  ["build", false],
  ["preview", false],
]);

/**
 * Whether a configuration is read for a dev server. Vite does not say so, but the command line shows it, and so does
 * the `NODE_ENV` that Vite sets if it is unset: `development` for a server, `production` for a build and a preview.
 * Vitest sets it to `test`.
 *
 * @param argv `process.argv`.
 */
export function isServing(argv: readonly string[], nodeEnv: string | undefined): boolean {
  if (nodeEnv === "test") return false;
  const command = argv.slice(2).find((argument) => COMMANDS.has(argument));
  return (command === undefined ? undefined : COMMANDS.get(command)) ?? nodeEnv === "development";
}
