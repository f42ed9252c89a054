import { SCOPES, TOKEN_SECONDS_MAX } from "@sluice/protocol";
import { type Command, InvalidArgumentError, Option } from "commander";
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

/** Parses the time for which a token is valid to ms. */
function validity(text: string): number {
  const ms = duration(text);
  if (ms >= 1_000 && ms <= 1_000 * TOKEN_SECONDS_MAX) return ms;
  throw new InvalidArgumentError(`It is 1s to ${TOKEN_SECONDS_MAX / 86_400}d.`);
}

type Options<T = object> = OnBrokerOptions & T;

/** Adds `sluice tokens`, which manages access to the broker over HTTP. */
export function addTokens(program: Command, execute: Execute): void {
  const tokens = program
    .command("tokens")
    .description("list, create, rotate and revoke the tokens that the broker keeps")
    .addHelpText("after", TOKENS_EXAMPLES);

  withBroker(tokens.command("list"))
    .description("list the tokens with their scopes and ends, without secrets")
    .addHelpText("after", examples("sluice tokens list", "sluice tokens list --json | jq '.[].name'"))
    .action((options: Options) =>
      onBroker(execute, options, async (on) => (await import("./tokens.ts")).listTokens(on)),
    );
  withBroker(tokens.command("create"))
    .description("create a token, and print its secret once")
    .argument("<name>", "name of the token: a-z, 0-9, dots, hyphens and underscores")
    .addOption(
      new Option("--scope <scope...>", "its rights; admin includes the others")
        .choices(SCOPES)
        .makeOptionMandatory(),
    )
    .option("--queue <name>", "queue that it may use, or a prefix such as mail-*; repeatable", collect)
    .option("--expires <duration>", "time until it ends: 90m, 12h or 30d (default: never)", validity)
    .option("--aws", "an access key for SQS and SNS; prints AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    .option("--rate <number>", "most requests a second (default: no limit)", positive)
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
    .description("give a token a new secret, and print it; the old one stays valid for a while")
    .argument("<name>", "name of the token")
    .option("--grace <duration>", "time that the old secret stays valid, 0s to 30d (default: 24h)", duration)
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
    .description("end a token: its secret is valid no more")
    .argument("<name>", "name of the token")
    .option("--force", "do it without asking")
    .addHelpText("after", examples("sluice tokens revoke shop", "sluice tokens revoke shop --force"))
    .action((name: string, options: Options<{ force?: boolean }>) =>
      onBroker(execute, options, async (on) =>
        (await import("./tokens.ts")).revokeToken(on, name, options.force === true),
      ),
    );
}

/** Adds `sluice audit`, which shows who changed what. */
export function addAudit(program: Command, execute: Execute): void {
  withBroker(program.command("audit"))
    .description("show who changed what, newest first: queues, settings, purges, redrives, tokens")
    .option("--limit <number>", "most changes to show, up to 500 (default: 50)", positive)
    .option("--cursor <cursor>", "go on to older changes")
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
