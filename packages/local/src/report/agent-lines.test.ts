import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { agentLines } from "./agent-lines.ts";

const URL = "http://localhost:8787";

it.each([
  {},
  { CLAUDECODE: "" },
  { TERM_PROGRAM: "vscode", CI: "1" },
  { AI_AGENT: "0", CLAUDECODE: "false", CRUSH: "No", OPENCODE: "OFF" },
])("a person is told nothing: %j", (environment) => {
  expect(agentLines(URL, environment)).toBeNull();
});

it.each(["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "AI_AGENT"])(
  "an agent that sets %s gets two lines",
  (name) => {
    const [tools, docs, ...more] = (agentLines(URL, { [name]: "1" }) ?? "").split("\n");
    expect(tools).toMatch(/ at http:\/\/localhost:8787\/__sluice\/mcp$/);
    expect(existsSync(docs?.split(": ")[1] ?? "")).toBe(true);
    expect(more).toEqual([]);
  },
);
