import { variablesOf } from "@sluice/protocol";
import { oneLine, plural } from "@sluice/protocol/words";
import { agree, type OnBroker } from "../on-broker.ts";
import type { SettingsLine } from "./backup-lines.ts";

/**
 * Shows every HTTP endpoint that a backup posts messages to, and asks before it is imported: the author of the file
 * decides where messages go.
 *
 * @param yes whether the command line confirms it.
 * @throws CliError with `EXIT_NOT_CONFIRMED` where there is no terminal, and for any answer but yes.
 */
export async function askAboutEndpoints(
  { printer, surroundings }: OnBroker,
  lines: readonly SettingsLine[],
  yes: boolean,
): Promise<void> {
  const endpoints = lines.flatMap(endpointIn);
  if (endpoints.length === 0) return;
  printer.warn(`This backup posts messages to ${plural(endpoints.length, "HTTP endpoint")}:`);
  for (const endpoint of endpoints) printer.warn(`  ${oneLine(endpoint)}`);
  await agree(surroundings, { question: "Import it?", yes });
}

/** Describes the HTTP endpoint of a line; empty where it has none. The broker validates the line later. */
function endpointIn(line: SettingsLine): string[] {
  if ("queue" in line) {
    const { name, consumer } = line.queue;
    if (consumer?.type !== "http_push") return [];
    const { url, signingSecret, headers } = Object(consumer.settings) as Partial<typeof consumer.settings>;
    const texts = Object.fromEntries(
      Object.entries(headers ?? {}).map(([key, value]) => [key, String(value)]),
    );
    const variables = variablesOf({
      headers: texts,
      ...(signingSecret === undefined ? {} : { signingSecret: String(signingSecret) }),
    });
    const asks = variables.length === 0 ? "" : `, which asks for ${variables.join(", ")}`;
    return [`queue ${name}: ${url}${asks}`];
  }
  if (!("topicSubscription" in line)) return [];
  const { protocol, topicArn, endpoint, isConfirmed } = line.topicSubscription;
  if (protocol === "sqs" || !isConfirmed) return [];
  return [
    `topic ${topicArn}: ${endpoint}, once it has confirmed anew; one that is subscribed already stays as it is`,
  ];
}
