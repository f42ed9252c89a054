import { expect, it } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import type { SettingsLine } from "./backup-lines.ts";
import { askAboutEndpoints } from "./endpoints.ts";

/** A person who gives an answer, with the texts that they were shown. */
function person(answer: string) {
  const said: string[] = [];
  const surroundings = {
    isInteractive: true,
    ask: async (question: string) => {
      said.push(question);
      return answer;
    },
  };
  const printer = { warn: (line: string) => void said.push(line) };
  return { said, on: { printer, surroundings } as unknown as OnBroker };
}

const queue = (consumer: unknown) => ({ queue: { name: "q", consumer } }) as unknown as SettingsLine;
const PUSH = queue({ type: "http_push", settings: { url: "https://a.example/", signingSecret: "KEY" } });

it("an import shows every endpoint and its settings before a person agrees", async () => {
  const { on, said } = person("y");
  await askAboutEndpoints(on, [queue(null), PUSH, PUSH], false);
  expect(said).toEqual([
    "This backup posts messages to 2 HTTP endpoints:",
    "  queue q: https://a.example/, which asks for KEY",
    "  queue q: https://a.example/, which asks for KEY",
    "Import it? [y/N] ",
  ]);
});

it("an import does not ask again after a person has refused", async () => {
  const { on } = person("");
  await expect(askAboutEndpoints(on, [PUSH], false)).rejects.toMatchObject({ exitCode: 5 });
});

it("an import of a backup without HTTP endpoints asks nothing", async () => {
  const { on, said } = person("");
  await askAboutEndpoints(on, [queue(null), queue({ type: "http_pull" })], false);
  expect(said).toEqual([]);
});

it.each([
  [{ type: "http_push", settings: { url: "https://a.example/\n  queue b: https://b.example/" } }, 2],
  [{ type: "http_push", settings: { url: "\u001b[2Jhttps://a.example/" } }, 2],
  [{ type: "http_push", settings: { url: "https://a.example/\u202egro.b" } }, 2],
  [{ type: "http_push", settings: 7 }, 2],
  [{ type: "http_push", settings: { url: {}, headers: { a: 7 }, signingSecret: [] } }, 2],
])("an import shows an invalid endpoint on one line: %j", async (consumer, count) => {
  const { on, said } = person("y");
  await askAboutEndpoints(on, [queue(consumer)], true);
  expect(said).toHaveLength(count);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
  expect(said.join("")).not.toMatch(/[\u0000-\u001f\u202e]/);
});
