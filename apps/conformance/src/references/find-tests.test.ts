import { expect, it } from "vitest";
import { taggedTests } from "./find-tests.ts";

const tag = (ids: string) => `  // ${["conformance", ids].join(": ")}`;

it.each([
  ['  it("sends", async () => {', "sends"],
  ["  it('says \"sent\"', () => {", 'says "sent"'],
  ['  describe("a pull", () => {', "a pull"],
  ['  it.runIf(canMount)("sends", () => {', "sends"],
  ['  it.each(["a", "b"])("sends %s", (each) => {', "sends %s"],
  ['  ])("sends %s", (each) => {', "sends %s"],
  ['    "a long name",', "a long name"],
  ['    ["a row", "another cell"],', "a row"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as the test's name is written.
  ["  it(`sends ${COUNT}`, () => {", "sends ${COUNT}"],
])("a tag is of the test below it: %s", (line, name) => {
  expect(taggedTests(["", tag("one-row, another"), line].join("\n"))).toEqual([
    { id: "one-row", name },
    { id: "another", name },
  ]);
});

it("a tag above no test is refused", () => {
  expect(() => taggedTests(tag("one-row"))).toThrow(/stands above no test/);
  expect(() => taggedTests([tag("one-row"), "  });"].join("\n"))).toThrow(/stands above no test/);
});

it("a file without tags proves nothing", () => {
  expect(taggedTests('it("sends", () => {});\n')).toEqual([]);
});
