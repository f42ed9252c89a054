// Refuses docblocks that begin with What, Who, Of or the like: the first word is the noun or the verb that is meant.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const OPENING = /\/\*\*[\s*]*(What|Who|Whose|Whoever|Of|Somebody)\b[^\n]*/g;

const root = fileURLToPath(new URL("..", import.meta.url));
const listed = execFileSync("git", ["ls-files", "*.ts", "*.tsx", "*.mjs"], { cwd: root, encoding: "utf8" });
const faults = listed
  .trim()
  .split("\n")
  .flatMap((file) => {
    const text = readFileSync(`${root}${file}`, "utf8");
    return [...text.matchAll(OPENING)].map(({ 0: opening, 1: word, index }) => {
      const line = text.slice(0, index + opening.indexOf(word)).split("\n").length;
      return `${file}:${line}: a docblock begins with "${word}". Begin with the noun or the verb.`;
    });
  });
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exitCode = 1;
}
