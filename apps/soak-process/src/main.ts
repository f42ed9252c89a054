import { runProgram } from "@sluice/harness/command-line";
import { parseCommandLine, USAGE } from "./command-line.ts";
import { runCommand } from "./run-command.ts";

await runProgram({
  usage: USAGE,
  parse: (args) => parseCommandLine(args, Date.now() % 1_000_000),
  run: runCommand,
});
