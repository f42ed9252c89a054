import type { ShardsView, ShardView } from "@sluice/gateway/views";
import { type Cell, table } from "@sluice/local/report/table";
import { plural, printable, size, span } from "@sluice/protocol/words";
import { shardsOfQueue } from "../../client/queues.ts";
import { answer, type OnBroker } from "../on-broker.ts";

const COLUMNS = ["shard", "ready", "delayed", "leased", "bytes", "oldest", "in/s", "out/s", "state"];

/** `sluice queues info --shards`: shows each object that keeps a queue. */
export async function showShards(on: OnBroker, name: string): Promise<number> {
  const view = await shardsOfQueue(on.client, name);
  const lines = [table(COLUMNS, view.shards.map(rowOf), on.printer), ...remarksOf(view)];
  answer(on, view, { text: lines.join("\n") });
  return 0;
}

function rowOf({ shard, messages, backlogBytes, oldestMessageAt, rates, now, ...rest }: ShardView): Cell[] {
  const count = (value: number | undefined) => (value === undefined ? "?" : `${value}`);
  return [
    `${shard}`,
    count(messages?.ready),
    count(messages?.delayed),
    count(messages?.leased),
    backlogBytes === null ? "?" : size(backlogBytes),
    oldestMessageAt === null || now === null ? "-" : span(Date.parse(now) - Date.parse(oldestMessageAt)),
    rates === null ? "-" : `${rates.in}`,
    rates === null ? "-" : `${rates.out}`,
    stateOf(rest),
  ];
}

function stateOf({
  state,
  failure,
  keepsGroups,
}: Pick<ShardView, "state" | "failure" | "keepsGroups">): Cell {
  if (failure !== null) return { text: `${state}, does not answer: ${printable(failure)}`, colour: "red" };
  const text = keepsGroups ? `${state}, groups on their way` : state;
  return text === "open" ? { text, colour: "green" } : { text, colour: "yellow" };
}

/** Says which change of the number of shards is under way. */
export function remarksOf({ wanted, shards }: ShardsView): string[] {
  if (wanted > 1 && shards.length === 1 && shards[0]?.failure !== null) {
    return [
      `The first shard alone tells which others there are; the settings ask for ${plural(wanted, "shard")}.`,
    ];
  }
  const open = shards.filter(({ state }) => state === "open").length;
  if (open !== wanted) return [`The settings ask for ${plural(wanted, "shard")}. The change is under way.`];
  const draining = shards.length - open;
  return draining === 0 ? [] : [`${plural(draining, "shard")} will go when empty.`];
}
