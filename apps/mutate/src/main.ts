import { fileURLToPath } from "node:url";
import { readCommandLine, USAGE } from "./command-line.ts";
import { mutate } from "./mutate.ts";

const packages = fileURLToPath(new URL("../../../packages", import.meta.url));
const commandLine = readCommandLine(process.argv.slice(2), packages);

switch (commandLine.kind) {
  case "usage":
    console.log(USAGE);
    break;
  case "wrong":
    console.error(`${commandLine.reason}\n\n${USAGE}`);
    process.exitCode = 2;
    break;
  case "run": {
    const { packageName, scoreMin } = commandLine.request;
    const score = await mutate(commandLine.request);
    // Too few to be wrong about: a file of types alone.
    const isEnough = Number.isNaN(score) || score >= scoreMin;
    console.log(`Mutation score of ${packageName}: ${score.toFixed(1)} % (at least ${scoreMin} %)`);
    process.exitCode = isEnough ? 0 : 1;
  }
}
