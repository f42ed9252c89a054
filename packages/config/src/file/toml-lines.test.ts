import fc from "fast-check";
import { parse } from "toml";
import { describe, expect, test } from "vitest";
import type { KeyPath } from "./lines.ts";
import { locateTomlKeys } from "./toml-lines.ts";

/** Lines of the paths in a document that the parser accepts: a test on anything else would prove nothing. */
function linesOf(text: string, ...paths: KeyPath[]): (number | undefined)[] {
  parse(text);
  const lines = locateTomlKeys(text);
  return paths.map((path) => lines.lineOf(path));
}

describe("the line of a key in a TOML document", () => {
  test("is found behind comments and blank lines", () => {
    const text = `# name = "no"

name = "a" # main = "no"
	# indented
  main = "b"`;
    expect(linesOf(text, ["name"], ["main"])).toEqual([3, 5]);
  });

  test("is found in tables and in arrays of tables", () => {
    const text = `[queues]
[[queues.consumers]]
queue = "a"
[[ queues . consumers ]] # the second
queue = "b"
max_retries = 1
[[queues.producers]]
binding = "B"`;
    expect(
      linesOf(
        text,
        ["queues"],
        ["queues", "consumers"],
        ["queues", "consumers", 0],
        ["queues", "consumers", 0, "queue"],
        ["queues", "consumers", 1],
        ["queues", "consumers", 1, "max_retries"],
        ["queues", "producers", 0, "binding"],
      ),
    ).toEqual([1, 2, 2, 3, 4, 6, 8]);
  });

  test("is found in the tables below an element of an array of tables", () => {
    const text = `[[a]]
[a.b]
c = 1
[[a.d]]
e = 1
[[a]]
[a.b]
c = 1
[[a.d]]
e = 1`;
    expect(
      linesOf(text, ["a", 0, "b", "c"], ["a", 0, "d", 0, "e"], ["a", 1, "b", "c"], ["a", 1, "d", 0, "e"]),
    ).toEqual([3, 5, 8, 10]);
  });

  test("the line of a key in a TOML document of a table that is only implied is that of the first header through it", () => {
    const text = `[sluice.queues.a]
delivery_delay = 1
[sluice]
[sluice.queues.b]`;
    expect(linesOf(text, ["sluice"], ["sluice", "queues"], ["sluice", "queues", "b"])).toEqual([1, 1, 4]);
  });

  test("is found for dotted and for quoted keys", () => {
    const text = `queues.a.x = 1
queues . "b.c" . 'd e' = 2
"\\u0066\\t\\x67\\U00000068\\"" = 3
[env."my env"]
name = "n"`;
    expect(
      linesOf(text, ["queues", "a", "x"], ["queues", "b.c", "d e"], ['f\tgh"'], ["env", "my env", "name"]),
    ).toEqual([1, 2, 3, 5]);
  });

  test("is found in inline tables, on several lines too", () => {
    const text = `queues = { consumers = [ { queue = "a", max_retries = 1 }, # one
  { queue = "b",
    # two
    "max_retries" = 2, },
], producers = [] }
after = 1`;
    expect(
      linesOf(
        text,
        ["queues", "consumers", 0, "max_retries"],
        ["queues", "consumers", 1],
        ["queues", "consumers", 1, "max_retries"],
        ["queues", "producers"],
        ["after"],
      ),
    ).toEqual([1, 2, 4, 5, 6]);
  });

  test("is not confused by what strings hold", () => {
    const text = `a = "[x] # { \\" } = \\\\"
b = 'c:\\[x]\\'
c = """
[x]
d = 0 \\""" ' "" # no
"""""
e = '''
[x]
d = 0 \\'' # no
'''''
f = ["]", '}', """
]""", '''
]''']
d = 1
[x]
y = 1`;
    expect(linesOf(text, ["b"], ["c"], ["e"], ["f"], ["f", 3], ["d"], ["x", "y"])).toEqual([
      2, 3, 7, 11, 12, 14, 16,
    ]);
  });

  test("is found after values of every other kind", () => {
    const text = `a = 1979-05-27 07:32:00Z
b = +1_000
c = -inf
d = [1, 0x2, 3.0e1,]
e = true
f = []
g = {}
h = 07:32:00 # end`;
    expect(linesOf(text, ["b"], ["c"], ["d", 2], ["e"], ["f"], ["g"], ["h"])).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });

  test("is the same with CRLF line ends", () => {
    const text = `[a]
b = """
x
"""
c = [
  1, # one
  2 ]
[[d]]
e = 1`;
    const paths: KeyPath[] = [["a"], ["a", "b"], ["a", "c"], ["a", "c", 1], ["d", 0], ["d", 0, "e"]];
    expect(linesOf(text.replaceAll("\n", "\r\n"), ...paths)).toEqual(linesOf(text, ...paths));
    expect(linesOf(text, ...paths)).toEqual([1, 2, 5, 7, 8, 9]);
  });
});

describe("any document", () => {
  const key = fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9_-]{1,6}$/),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  const spell = (text: string) => JSON.stringify(text).replaceAll("\u007f", "\\u007f");
  const scalar = fc.oneof(
    fc.integer().map(String),
    fc.string().map(spell),
    fc.constantFrom("'[a]'", '"""\n[b]\nc = 1\n"""', "'''\n]]\n'''", "1979-05-27 07:32:00", "nan"),
  );
  const blank = fc.constantFrom("", " ", "\n", " # [x]\n", "\r\n\t");
  const array = fc
    .tuple(fc.array(scalar), blank)
    .map(([values, gap]) => `[${gap}${values.join(`${gap},${gap}`)}${gap}]`);
  const value = fc.oneof(scalar, array);
  const table = fc.uniqueArray(fc.tuple(key, value, blank), { selector: ([name]) => name, maxLength: 6 });

  test("has every key where it was written", () => {
    fc.assert(
      fc.property(fc.array(table), (tables) => {
        let text = "";
        const written: { path: KeyPath; line: number }[] = [];
        const here = () => text.split("\n").length;
        for (const [i, entries] of tables.entries()) {
          text += "[[t]]\n";
          for (const [name, content, gap] of entries) {
            text += gap;
            written.push({ path: ["t", i, name], line: here() });
            text += `${spell(name)} = ${content}\n`;
          }
        }
        parse(text);
        const lines = locateTomlKeys(text);
        for (const { path, line } of written) expect(lines.lineOf(path)).toBe(line);
      }),
    );
  });

  test("is read to an end, TOML or not", () => {
    const piece = fc.constantFrom(
      "[",
      "]",
      "[[",
      "{",
      "}",
      "=",
      ",",
      '"',
      "'",
      '"""',
      "\\",
      "\n",
      "#",
      ".",
      "a",
      " ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(locateTomlKeys(pieces.join("")).lineOf(["never"])).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });
});
