import { rmSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "@sluice/harness/command-line";
import { type Command, parseCommandLine, USAGE } from "./command-line.ts";
import { fetched, inFolder, kilobytes, packArchives, secondsSince } from "./lab.ts";
import { MANAGERS, type Manager } from "./managers.ts";
import { tryInstall } from "./try-install.ts";

await runProgram({
  usage: USAGE,
  parse: parseCommandLine,
  run: (command) => inFolder((folder) => tryInstalls(folder, command)),
});

async function tryInstalls(folder: string, { managers, nodes, without }: Command): Promise<boolean> {
  const archives = packArchives(folder, ["cli", "testing", "vite"]);
  let isWell = true;
  for (const nodeMajor of nodes) {
    const node = join(fetched(folder, "node", nodeMajor), "bin/node");
    for (const name of managers) {
      const manager: Manager = MANAGERS[name];
      const bin = join(fetched(folder, manager.package, manager.version), manager.bin);
      const project = join(folder, `${name}-on-${nodeMajor}`);
      const startMs = Date.now();
      const { problems, bytes } = await tryInstall({
        manager,
        node,
        bin,
        archives,
        without,
        folder: project,
      });
      const how =
        problems.length > 0 ? "fails" : bytes === 0 ? "works" : `works, ${kilobytes(bytes)} in node_modules`;
      console.log(`${name} on Node.js ${nodeMajor}: ${how}, ${secondsSince(startMs)}`);
      for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
      if (problems.length > 0) isWell = false;
      rmSync(project, { recursive: true, force: true });
    }
  }
  return isWell;
}
