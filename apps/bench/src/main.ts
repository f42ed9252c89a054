import { parseCommandLine, USAGE, UsageError } from "./command-line.ts";
import { runCommand } from "./run-command.ts";

try {
  const args = process.argv.slice(2);
  const command = parseCommandLine(args);
  if (command === "help") console.log(USAGE);
  else await runCommand(command, ["pnpm bench", ...args].join(" "));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
