import { expect, it } from "vitest";
import { changeTools } from "./change-tools.ts";
import { lookTools } from "./look-tools.ts";
import type { ApiRequest, ToolPorts } from "./tool.ts";

/** Runs a tool on an admin API that answers every request with a dry run. @returns the requests. */
async function requestsOf(name: string, input: object): Promise<ApiRequest[]> {
  const requests: ApiRequest[] = [];
  const ports = {
    ask: async (request: ApiRequest) => {
      requests.push(request);
      return { dryRun: true, count: 0, cursor: null, messages: [] };
    },
  } as unknown as ToolPorts;
  const tool = changeTools().find((one) => one.name === name);
  await tool?.run(input, ports);
  return requests;
}

it("a dry run of deleting all messages goes on at its cursor", async () => {
  const input = { queue: "orders", all: true, dryRun: true, cursor: "1-2-3" };
  const [request] = await requestsOf("delete_or_purge", input);
  expect(request?.body).toMatchObject({ filter: "", dryRun: true, cursor: "1-2-3" });
});

it.each([
  ["delete_or_purge", { all: true, limit: 5, dryRun: false }, /takes limit with ids or filter only/],
  ["delete_or_purge", { all: true, limit: 5 }, /takes limit with ids or filter only/],
  ["delete_or_purge", { id: "a", limit: 5 }, /takes limit with ids or filter only/],
  ["delete_or_purge", { all: true, cursor: "1-2-3", dryRun: false }, /takes no cursor/],
  ["delete_or_purge", { id: "a", cursor: "1-2-3" }, /takes no cursor/],
  ["retry", { id: "a", limit: 5 }, /takes limit and cursor with ids or filter only/],
  ["retry", { id: "a", cursor: "1-2-3" }, /takes limit and cursor with ids or filter only/],
  ["find_messages", { queue: undefined, filter: "x", max: 5 }, /takes max and cursor with a queue only/],
  ["find_messages", { queue: undefined, filter: "x", cursor: "c" }, /takes max and cursor with a queue only/],
])("%s refuses what would be ignored: %j", (name, input, words) => {
  const tool = [...changeTools(), ...lookTools()].find((one) => one.name === name);
  const { error } = tool?.input.safeParse({ queue: "orders", ...input }) ?? {};
  expect(error?.message).toMatch(words);
});

it.each([
  ["delete_or_purge", { filter: "", limit: 5, cursor: "1-2-3", dryRun: false }],
  ["delete_or_purge", { all: true, cursor: "1-2-3" }],
  ["delete_or_purge", { all: true, dryRun: false }],
  ["retry", { ids: ["a"], limit: 5, cursor: "1-2-3" }],
  ["find_messages", { max: 5, cursor: "c" }],
])("%s takes %j", (name, input) => {
  const tool = [...changeTools(), ...lookTools()].find((one) => one.name === name);
  expect(tool?.input.safeParse({ queue: "orders", ...input }).success).toBe(true);
});
