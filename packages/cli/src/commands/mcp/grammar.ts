import type { Command } from "commander";
import type { BrokerOptions } from "../../client/find-broker.ts";
import { type Execute, examples } from "../on-broker.ts";

/** Adds `sluice mcp`, which gives the tools of a broker to a coding agent. */
export function addMcp(program: Command, execute: Execute): void {
  program
    .command("mcp")
    .description("tools for coding agents: MCP by standard input and output, answered by a running broker")
    .option("--url <url>", "address of the broker (default: SLUICE_URL, or the broker that runs here)")
    .option(
      "--token <token>",
      "a token of the broker's (default: SLUICE_API_TOKEN, or that of a running sluice dev)",
    )
    .addHelpText("after", examples("sluice mcp", "sluice mcp --url https://sluice.example.workers.dev"))
    .action((options: BrokerOptions) =>
      execute(async (printer, surroundings) =>
        (await import("./mcp.ts")).forwardMcp(options, printer, surroundings),
      ),
    );
}
