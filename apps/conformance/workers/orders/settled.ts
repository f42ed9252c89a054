/** Settlement of a message: acknowledged, or retried after a delay in seconds. */
export type Settled = "ack" | `retry ${number} s`;

/** Sends a request to a host: to the project's Worker, or below `/__sluice` to the broker's API. */
export type Ask = (path: string, init?: { method: string; body: string }) => Promise<Response>;

interface HistoryEvent {
  readonly kind: string;
  readonly ids: readonly string[];
  readonly messages: number;
  readonly batch: number | null;
  readonly delayMs: number | null;
}

/** Longest time until a program is settled, in ms: a busy machine runs all of them slowly. */
const PATIENCE_MS = 60_000;
const POLL_MS = 100;

/** Name of a program's queue, by the program's number. */
export const queueOf = (i: number): string => `orders-${i}`;
/** Name of that queue's binding. */
export const bindingOf = (i: number): string => `ORDERS_${i}`;

/**
 * Runs programs, each on a batch of two messages in a queue of its own. Resolves to the settlements of both messages of
 * each program.
 *
 * @throws Error if a program is not settled after a minute.
 */
export async function settledBy(ask: Ask, programs: readonly string[]): Promise<Settled[][]> {
  const body = JSON.stringify(Object.fromEntries(programs.map((program, i) => [bindingOf(i), program])));
  const sent = await ask("/", { method: "POST", body });
  if (!sent.ok) throw new Error(`${sent.status} ${await sent.text()}`);
  await sent.text();
  return Promise.all(programs.map((program, i) => settledIn(ask, queueOf(i), program)));
}

async function settledIn(ask: Ask, queue: string, program: string): Promise<Settled[]> {
  for (const endsMs = Date.now() + PATIENCE_MS; ; ) {
    const response = await ask(`/__sluice/api/queues/${queue}/history`);
    if (!response.ok) throw new Error(`${queue}: ${response.status} ${await response.text()}`);
    const { events } = (await response.json()) as { events: HistoryEvent[] };
    const settled = settledOf(events.toReversed());
    if (settled !== null) return settled;
    if (Date.now() > endsMs) throw new Error(`${program}: not settled: ${JSON.stringify(events)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Reads the settlements of the first batch from the queue's history; `null` until both messages are settled. */
function settledOf(events: readonly HistoryEvent[]): Settled[] | null {
  const { ids = [] } = events.find(({ kind }) => kind === "accepted") ?? {};
  const delivered = events.find(({ kind }) => kind === "delivered");
  const acked = events
    .filter(({ kind, batch }) => kind === "acked" && batch === delivered?.batch)
    .reduce((sum, { messages }) => sum + messages, 0);
  const delays = new Map(
    events.flatMap(({ kind, ids, delayMs }) =>
      kind === "retried" ? ids.map((id): [string, number] => [id, (delayMs ?? 0) / 1_000]) : [],
    ),
  );
  if (delivered?.messages !== 2 || acked + delays.size < 2) return null;
  return ids.map((id): Settled => {
    const seconds = delays.get(id);
    return seconds === undefined ? "ack" : `retry ${seconds} s`;
  });
}
