import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const flat = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** Sources of the tests that run, which contain all snippets of the guide. */
const TESTS = flat(
  [
    "apps/shop-consumer/test/orders.workerd.test.ts",
    "packages/testing/test/runtime.workerd.test.ts",
    "packages/testing/test/surroundings.workerd.test.ts",
    "packages/testing/test/fixtures/mails/test/mails.spec.ts",
    "packages/testing/test/fixtures/mails/vitest.config.ts",
    "packages/testing/test/mail.slow.test.ts",
    "packages/testing/test/fixtures/mail/src/index.ts",
    "packages/testing/test/fixtures/shop/vitest.config.ts",
    "packages/testing/test/fixtures/shop/test/shop.spec.ts",
    "apps/conformance/workers/orders/vitest.config.ts",
  ]
    .map(read)
    .join("\n"),
);
const SNIPPETS = [...read("docs/testing-your-queues.md").matchAll(/```ts\n(.*?)```/gs)].map(
  ([, code]) => `${code}`,
);

it.each(SNIPPETS)("a snippet of the guide is run by a test: %s", (snippet) =>
  expect(TESTS).toContain(flat(snippet)),
);

it("the guide has snippets", () => expect(SNIPPETS.length).toBeGreaterThan(5));
