import { runProgram } from "@sluice/harness/command-line";
import { parseCommandLine, USAGE } from "./command-line.ts";
import { runCommand } from "./run-command.ts";

await runProgram({
  usage: USAGE,
  parse: parseCommandLine,
  run: async (command) => {
    await runCommand(command, ["pnpm bench", ...process.argv.slice(2)].join(" "));
    return true;
  },
});
