import { fileURLToPath } from "node:url";
import { runProgram } from "@sluice/harness/command-line";
import { parseCommandLine, USAGE } from "./command-line.ts";
import { stress } from "./stress.ts";

await runProgram({
  usage: USAGE,
  parse: parseCommandLine,
  run: async ({ files, times, load }) => {
    const folder = fileURLToPath(new URL("../../..", import.meta.url));
    const failed = await stress({
      files,
      folder,
      times,
      load,
      onRun: ({ number, hasPassed, tookMs, output }) => {
        if (!hasPassed) console.log(output);
        const place = `${number} of ${times}`;
        console.log(`${place}  ${hasPassed ? "passed" : "FAILED"}  ${(tookMs / 1_000).toFixed(1)} s`);
      },
    });
    console.log(`${times - failed} passed, ${failed} failed, beside ${load} busy processes`);
    return failed === 0;
  },
});
