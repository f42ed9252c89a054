import { globSync, readFileSync } from "node:fs";
import path from "node:path";

/** A test of this repository that proves a row. */
export interface TestReference {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Name of the test, of its group, or of its row of a table, as written in the file. */
  readonly name: string;
}

const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");
const TEST_FILES = "{packages,apps}/*/{src,test}/**/*.test.ts";

/** Finds the tests of the repository that name the rows which they prove, by the rows' ids. */
export function findTests(): ReadonlyMap<string, readonly TestReference[]> {
  const found = new Map<string, TestReference[]>();
  for (const file of globSync(TEST_FILES, { cwd: REPOSITORY, exclude: ["**/node_modules/**"] }).sort()) {
    for (const { id, name } of taggedTests(readFileSync(path.join(REPOSITORY, file), "utf8"))) {
      const tests = found.get(id) ?? [];
      found.set(id, tests);
      tests.push({ file: file.replaceAll(path.sep, "/"), name });
    }
  }
  return found;
}

/** Name directly after `it(`, `describe(` or the table of an `each`. */
const CALLED = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\((["'`])((?:\\.|(?!\1).)*)\1/;
/** Any text: a name on a line of its own, or at the beginning of a row of a table. */
const ANY = /(["'`])((?:\\.|(?!\1).)*)\1/;

/** Finds the tests below lines `// conformance: ID, ...` of a test file. Throws if such a line is above no test. */
export function taggedTests(source: string): { readonly id: string; readonly name: string }[] {
  const lines = source.split("\n");
  return lines.flatMap((line, at) => {
    const [, ids] = /^\s*\/\/ conformance: (.+)$/.exec(line) ?? [];
    if (ids === undefined) return [];
    const below = lines[at + 1] ?? "";
    const [, , name] = CALLED.exec(below) ?? ANY.exec(below) ?? [];
    if (name === undefined) throw new Error(`"${line.trim()}" stands above no test: ${below.trim()}`);
    return ids.split(", ").map((id) => ({ id, name: name.replace(/\\(["'`])/g, "$1") }));
  });
}
