import { SCOPES } from "@sluice/protocol";
import { type Command, Option } from "commander";
import { duration } from "../development/grammar.ts";
import {
  collect,
  type Execute,
  examples,
  type OnBrokerOptions,
  onBroker,
  positive,
  withBroker,
} from "../on-broker.ts";
import type { AuditOptions } from "./audit.ts";
import type { CreateOptions } from "./tokens.ts";

type Options<T = object> = OnBrokerOptions & T;

/** `sluice tokens`: who may use the broker over HTTP. */
export function addTokens(program: Command, execute: Execute): void {
  const tokens = program
    .command("tokens")
    .description("list, create, rotate and revoke the tokens that the broker keeps")
    .addHelpText("after", TOKENS_EXAMPLES);

  withBroker(tokens.command("list"))
    .description("list the tokens: what each may do, and until when; no secrets")
    .addHelpText("after", examples("sluice tokens list", "sluice tokens list --json | jq '.[].name'"))
    .action((options: Options) =>
      onBroker(execute, options, async (on) => (await import("./tokens.ts")).listTokens(on)),
    );
  withBroker(tokens.command("create"))
    .description("create a token, and print its secret this once")
    .argument("<name>", "name of the token: a-z, 0-9, dots, hyphens and underscores")
    .addOption(
      new Option("--scope <scope...>", "what it may do; admin includes the others")
        .choices(SCOPES)
        .makeOptionMandatory(),
    )
    .option("--queue <name>", "queue it is for, or mail-* for all that begin so; repeatable", collect)
    .option("--expires <duration>", "how long it is valid: 90m, 12h or 30d (default: always)", duration)
    .option("--aws", "an access key for SQS and SNS; prints AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    .option("--rate <number>", "requests a second, at most (default: any number)", positive)
    .addHelpText(
      "after",
      examples(
        "sluice tokens create shop --scope send --queue orders",
        "sluice tokens create worker --scope read consume --queue 'mail-*' --rate 50",
        "sluice tokens create jobs --scope send consume --aws >> .env",
        "export SLUICE_API_TOKEN=$(sluice tokens create ci --scope admin --expires 1h)",
      ),
    )
    .action((name: string, options: Options<CreateOptions>) =>
      onBroker(execute, options, async (on) => (await import("./tokens.ts")).createToken(on, name, options)),
    );
  withBroker(tokens.command("rotate"))
    .description("give a token another secret, and print it; the old one is valid for a while")
    .argument("<name>", "name of the token")
    .option("--grace <duration>", "how long the old secret is valid, 0s to 30d (default: 24h)", duration)
    .addHelpText(
      "after",
      examples("sluice tokens rotate shop", "sluice tokens rotate shop --grace 0s    # it has leaked"),
    )
    .action((name: string, options: Options<{ grace?: number }>) =>
      onBroker(execute, options, async (on) =>
        (await import("./tokens.ts")).rotateToken(on, name, options.grace ?? null),
      ),
    );
  withBroker(tokens.command("revoke"))
    .description("end a token: whoever has it is let in no more")
    .argument("<name>", "name of the token")
    .option("--force", "do it without asking")
    .addHelpText("after", examples("sluice tokens revoke shop", "sluice tokens revoke shop --force"))
    .action((name: string, options: Options<{ force?: boolean }>) =>
      onBroker(execute, options, async (on) =>
        (await import("./tokens.ts")).revokeToken(on, name, options.force === true),
      ),
    );
}

/** `sluice audit`: what was changed, and by whom. */
export function addAudit(program: Command, execute: Execute): void {
  withBroker(program.command("audit"))
    .description("show what was changed by whom, newest first: queues, settings, purges, redrives, tokens")
    .option("--limit <number>", "most changes that are shown, up to 500 (default: 50)", positive)
    .option("--cursor <cursor>", "go on to older ones")
    .addHelpText("after", examples("sluice audit", "sluice audit --limit 500 --json | jq '.entries[].by'"))
    .action((options: Options<AuditOptions>) =>
      onBroker(execute, options, async (on) => (await import("./audit.ts")).showAudit(on, options)),
    );
}

const TOKENS_EXAMPLES = examples(
  "sluice tokens create shop --scope send --queue orders",
  "sluice tokens rotate shop",
  "sluice tokens revoke shop",
);
