import { expect, it } from "vitest";
import { linksInArchive } from "../stage.mjs";

const PACKED = new Map([
  ["packages/cli/README.md", "README.md"],
  ["docs/sqs.md", "docs/sqs.md"],
  ["docs/cli.md", "docs/cli.md"],
]);
const REPOSITORY = "https://github.com/o/r/blob/HEAD";

it.each([
  ["packages/cli/README.md", "[SQS](../../docs/sqs.md#limits)", "[SQS](docs/sqs.md#limits)"],
  ["docs/cli.md", "[a\nb](sqs.md), [c](../packages/cli/README.md#x)", "[a\nb](sqs.md), [c](../README.md#x)"],
  ["docs/cli.md", "[a](https://example.com/a.md) [b](#here)", "[a](https://example.com/a.md) [b](#here)"],
  ["docs/cli.md", "const [a] = f(b); `x[0](y)`", "const [a] = f(b); `x[0](y)`"],
])("the links in %s are rewritten for the archive: %j", (from, text, rewritten) => {
  expect(linksInArchive(text, from, PACKED, null)).toBe(rewritten);
});

it("a link to other files leads to the repository, or becomes its text where the repository is unknown", () => {
  const text = "see [how](design/objects.md#full) and ![a queue](images/queue.png)";
  expect(linksInArchive(text, "docs/cli.md", PACKED, null)).toBe("see how and a queue");
  expect(linksInArchive(text, "docs/cli.md", PACKED, REPOSITORY)).toBe(
    `see [how](${REPOSITORY}/docs/design/objects.md#full) and ![a queue](${REPOSITORY}/docs/images/queue.png?raw=true)`,
  );
});

it("an image in a link is rewritten like the link", () => {
  const text = "[![a](images/a.png)](sqs.md)";
  expect(linksInArchive(text, "docs/cli.md", PACKED, null)).toBe("[a](sqs.md)");
});
