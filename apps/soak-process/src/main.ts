import { parseCommandLine, USAGE, UsageError } from "./command-line.ts";
import { runCommand } from "./run-command.ts";

try {
  const command = parseCommandLine(process.argv.slice(2), Date.now() % 1_000_000);
  if (command === "help") console.log(USAGE);
  else if (!(await runCommand(command))) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
