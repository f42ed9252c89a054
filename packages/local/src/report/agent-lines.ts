import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { LLMS_FILE } from "../docs/docs-folder.ts";

/** Environment variables that coding agents set for the commands that they run. */
export const AGENT_VARIABLES = [
  "AI_AGENT",
  "AMP_CURRENT_THREAD_ID",
  "ANTIGRAVITY_AGENT",
  "AUGMENT_AGENT",
  "CLAUDECODE",
  "CODEX_THREAD_ID",
  "CRUSH",
  "CURSOR_AGENT",
  "GEMINI_CLI",
  "OPENCODE",
  "PI_CODING_AGENT",
  "QWEN_CODE",
];

/** Values of such a variable that mean that no agent runs. */
const OFF: ReadonlySet<string> = new Set(["", "0", "false", "no", "off"]);

/**
 * Returns lines that tell a coding agent where its tools and the documentation are; `null` where no agent has started
 * the command.
 *
 * @param url URL of the primary Worker, without a slash at its end.
 */
export function agentLines(url: string, environment: NodeJS.ProcessEnv): string | null {
  if (!AGENT_VARIABLES.some((name) => !OFF.has((environment[name] ?? "").toLowerCase()))) return null;
  return (
    `For coding agents: tools for these queues by MCP (streamable HTTP) at ${url}${SLUICE_PATH}/mcp\n` +
    `Documentation for them: ${LLMS_FILE}`
  );
}
