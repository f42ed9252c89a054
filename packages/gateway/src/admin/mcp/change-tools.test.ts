import { expect, it } from "vitest";
import { changeTools } from "./change-tools.ts";
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
