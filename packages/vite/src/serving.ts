/** Commands of Vite's and of frameworks', and whether they serve what is being worked on. */
const COMMANDS: ReadonlyMap<string, boolean> = new Map([
  ["dev", true],
  ["serve", true],
  ["build", false],
  ["preview", false],
]);

/**
 * Whether a configuration is read for a dev server. A configuration is not told what for, so this goes by the command
 * line, and by what Vite sets `NODE_ENV` to before it reads one: `development` for a server, `production` for a build
 * and a preview, unless it is set already. Vitest sets it to `test`.
 *
 * @param argv as `process.argv`.
 */
export function isServing(argv: readonly string[], nodeEnv: string | undefined): boolean {
  if (nodeEnv === "test") return false;
  const command = argv.slice(2).find((argument) => COMMANDS.has(argument));
  return (command === undefined ? undefined : COMMANDS.get(command)) ?? nodeEnv === "development";
}
