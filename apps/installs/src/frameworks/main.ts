import { rmSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "@sluice/harness/command-line";
import { endOf, environmentOf, fetched, inFolder, packArchives, secondsSince, wordsOf } from "../lab.ts";
import { MANAGERS } from "../managers.ts";
import { type Command, parseCommandLine, USAGE } from "./command-line.ts";
import { FRAMEWORKS, type Framework } from "./frameworks.ts";
import { installProject, placeProject } from "./project.ts";
import { tryServer } from "./try-server.ts";

await runProgram({
  usage: USAGE,
  parse: parseCommandLine,
  run: (command) => inFolder((folder) => tryFrameworks(folder, command)),
});

async function tryFrameworks(folder: string, { frameworks }: Command): Promise<boolean> {
  const archives = packArchives(folder, ["cli"]);
  const npm = join(fetched(folder, MANAGERS.npm.package, MANAGERS.npm.version), MANAGERS.npm.bin);
  let isWell = true;
  const row = (what: string, versions: string, problem: string | null, startMs: number) => {
    console.log(`| ${what} | ${versions} | ${problem === null ? "ok" : "fails"}, ${secondsSince(startMs)} |`);
    if (problem !== null) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
    isWell &&= problem === null;
  };
  for (const name of frameworks) {
    const framework: Framework = FRAMEWORKS[name];
    const project = join(folder, name);
    const env = environmentOf(project, process.execPath);
    const installMs = Date.now();
    let versions = "";
    const failure = await problemOf(() => {
      versions = installProject(framework, { project, env, npm, archives });
    });
    if (failure !== null) {
      row(`${name}: install`, versions, failure, installMs);
      continue;
    }
    for (const [server, words] of Object.entries(framework.servers)) {
      const startMs = Date.now();
      placeProject(framework, project);
      const problem = await problemOf(() => tryServer(framework, words, { project, env }));
      row(server, versions, problem, startMs);
    }
    rmSync(project, { recursive: true, force: true });
  }
  return isWell;
}

async function problemOf(run: () => void | Promise<void>): Promise<string | null> {
  try {
    await run();
    return null;
  } catch (error) {
    return endOf(wordsOf(error));
  }
}
