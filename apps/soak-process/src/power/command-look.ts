import getPort from "@sluice/protocol/test/free-port";
import { BrokerProcess } from "../sqs/broker-process.ts";
import {
  damagedFiles,
  type Findings,
  type FoundMessage,
  isEndPlanned,
  type ListedQueue,
  queuesIn,
} from "./look.ts";

/** Words of log lines that tell of more than the start. */
const WORDS_OF_DAMAGE = /damag|lost|error|cannot|warn/i;

interface CommandLookOptions {
  /** Entry of the command. */
  readonly main: string;
  /** Folder to run in. */
  readonly folder: string;
}

/** Starts `sluice serve` on a data folder, lists its messages, queues and topics, and stops it. Receives nothing. */
export async function lookByCommand(state: string, { main, folder }: CommandLookOptions): Promise<Findings> {
  const isPlanned = isEndPlanned(state);
  const epoch = await BrokerProcess.start({ main, port: await getPort(), persistDir: state, folder });
  const damage: string[] = [];
  try {
    const get = async (path: string) => {
      const response = await fetch(new URL(`/__sluice/api/${path}`, epoch.endpoint));
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    const { queues } = (await get("queues")) as { queues: ListedQueue[] };
    const messages: FoundMessage[] = [];
    for (const { name } of queues) {
      for (let cursor: string | null = ""; cursor !== null; ) {
        const more: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const page = (await get(`queues/${name}/messages?max=100&whole=true${more}`)) as Page;
        messages.push(...page.messages.map(({ text }) => ({ queue: name, body: text, receives: Infinity })));
        cursor = page.cursor;
      }
    }
    const { topics } = (await get("topics")) as {
      topics: { name: string; subscriptions: { confirmed: number } }[];
    };
    await epoch.stop();
    damage.push(...epoch.lines.filter((line) => WORDS_OF_DAMAGE.test(line)), ...damagedFiles(state));
    return {
      damage,
      isEndPlanned: isPlanned,
      visible: [],
      messages,
      queues: queuesIn(queues, damage),
      topics: new Map(topics.map(({ name, subscriptions }) => [name, subscriptions.confirmed])),
    };
  } finally {
    await epoch.kill();
  }
}

interface Page {
  readonly messages: readonly { readonly text: string }[];
  readonly cursor: string | null;
}
