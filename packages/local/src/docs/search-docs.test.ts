import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { DOCS_FOLDER, LLMS_FILE } from "./docs-folder.ts";
import { bestOf, FOUND_MAX, searchDocs, sectionsOf } from "./search-docs.ts";

it("divides a document at its headings, and not at comments of code", () => {
  const text = "# Title\nfirst\n## Use\n```sh\n# a comment\nrun\n```\n## Empty";
  expect(sectionsOf("docs/x.md", text)).toEqual([
    { file: "docs/x.md", heading: "Title", text: "first" },
    { file: "docs/x.md", heading: "Use", text: "```sh\n# a comment\nrun\n```" },
    { file: "docs/x.md", heading: "Empty", text: "" },
  ]);
});

it("puts sections with more of the words first, and leaves out those with none", () => {
  const section = (heading: string, text: string) => ({ file: "docs/x.md", heading, text });
  const [both, title, one, none] = [
    section("Other", "dead letters are moved by a redrive"),
    section("Redrive", "moves"),
    section("Other", "a redrive"),
    section("Other", "nothing"),
  ];
  expect(bestOf([none, one, title, both], "redrive dead")).toEqual([both, title, one]);
  expect(bestOf([none, one], "")).toEqual([]);
  expect(bestOf(Array(FOUND_MAX + 1).fill(one), "redrive")).toHaveLength(FOUND_MAX);
});

it("the list for agents has every document", () => {
  const listed = readFileSync(LLMS_FILE, "utf8");
  const documents = readdirSync(DOCS_FOLDER).filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(documents.filter((name) => !listed.includes(`(${name})`))).toEqual([]);
});

it("finds what the documentation says of a thing", () => {
  expect(searchDocs("redrive dry run").map(({ file }) => file)).toContain("docs/admin-api.md");
  expect(searchDocs("max_concurrency wrangler.toml").length).toBeGreaterThan(0);
});
