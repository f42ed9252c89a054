import { expect, it } from "vitest";
import { replaceBlock } from "./documents.ts";

const DOCUMENT = `# Title

<!-- figures: compare -->
old
<!-- end of figures -->

words

<!-- figures: price -->
<!-- end of figures -->
`;

it("replaces the figures of one block and nothing else", () => {
  expect(replaceBlock(DOCUMENT, "compare", "\nnew\n")).toBe(DOCUMENT.replace("old", "\nnew\n"));
  expect(replaceBlock(DOCUMENT, "price", "1.20")).toContain("<!-- figures: price -->\n\n1.20\n\n<!-- end");
});

it("gives the same when it is done twice", () => {
  const once = replaceBlock(DOCUMENT, "compare", "new");
  expect(replaceBlock(once, "compare", "new")).toBe(once);
});

it("refuses a document without the block", () => {
  expect(() => replaceBlock(DOCUMENT, "backlog", "x")).toThrow('no block for the figures "backlog"');
});
