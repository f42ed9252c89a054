import { stripVTControlCharacters } from "node:util";
import { HIDDEN_BINDINGS, QUEUES_BINDING } from "@sluice/project/names";

/** A binding of the user's Worker that sends to a queue. */
export interface QueueBinding {
  readonly binding: string;
  readonly queue: string;
}

const TITLE = /^(?:Your Worker|(.+)) has access to the following bindings:$/;
const HEADING = /^Binding +Resource/;
const ROW_NAME = /^env\.(\S+)/;
/** The Worker that a service or a Durable Object belongs to, as rows name it. */
const OTHER_WORKER = /(?:defined in |\(|\n\s*)([^)#,\s]+)(?:#[^)\s]*)?(?:\)|$)/;
const COLOUR = String.raw`(?:\u001b\[[\d;]*m)*`;
const STATUS = new RegExp(` ${COLOUR}\\[(?:not )?connected\\]${COLOUR}`);
const BROKER_VALUE = /QueueBroker, defined in [^)\n]+/;
const BROKER_TYPE = new RegExp(`( *)(${COLOUR})Durable Object`);
/** Gap between a binding and its type. Wrangler's is 6 wide, or 4 where values stand on lines of their own. */
const GAP = / {4,}/;
const GAP_WIDTH = 6;
const GAP_WIDTH_WRAPPED = 4;

/** The bindings of one Worker, as Wrangler lists them: a title, a heading, and a message for each. */
export class BindingsTable {
  /** The Worker's name. */
  readonly worker: string;
  readonly #title: string;
  readonly #running: readonly string[];
  readonly #messages: string[] = [];

  /**
   * @param running names of the Workers that run in the same Wrangler. Bindings to them work, even those that Wrangler
   *   lists as "not connected" while it starts.
   */
  constructor(title: string, worker: string, running: readonly string[]) {
    this.#title = title;
    this.worker = worker;
    this.#running = running;
  }

  /** Returns the Worker that a title names, "" for a title without a name; `null` for a message that is no title. */
  static workerIn(message: string): string | null {
    const match = TITLE.exec(message);
    return match === null ? null : (match[1] ?? "");
  }

  /** Takes a message after the title. Returns `false` for one that is not of the table; an empty one ends the table. */
  takes(message: string): boolean {
    const plain = stripVTControlCharacters(message);
    if (!ROW_NAME.test(plain) && !HEADING.test(plain)) return false;
    this.#messages.push(message);
    return true;
  }

  /** Lists the title and the messages that it has taken, untouched. */
  asGiven(): string[] {
    return [this.#title, ...this.#messages];
  }

  /** Lists the messages to show: `queues` in place of the binding to the broker, none of Sluice's other bindings. */
  lines(queues: readonly QueueBinding[]): string[] {
    const [heading = "", ...rows] = this.#messages;
    const shown = rows.flatMap((row) => {
      const name = nameOf(row);
      if (name === QUEUES_BINDING) return queues.map((queue) => queueRow(row, queue));
      return HIDDEN_BINDINGS.includes(name) ? [] : [this.#withoutStatus(row)];
    });
    return shown.length === 0 ? [] : [this.#title, ...narrowed([heading, ...shown]), ""];
  }

  #withoutStatus(row: string): string {
    const worker = OTHER_WORKER.exec(stripVTControlCharacters(row))?.[1];
    return worker !== undefined && this.#running.includes(worker) ? row.replace(STATUS, "") : row;
  }
}

function nameOf(row: string): string {
  return ROW_NAME.exec(stripVTControlCharacters(row))?.[1] ?? "";
}

/** Turns the row of the binding to the broker into the row of a queue, in the same colours and columns. */
function queueRow(row: string, { binding, queue }: QueueBinding): string {
  const value = BROKER_VALUE.exec(stripVTControlCharacters(row))?.[0] ?? "";
  const isInGap = !row.includes("\n");
  const freed = QUEUES_BINDING.length - binding.length + (isInGap ? value.length - queue.length : 0);
  return row
    .replace(QUEUES_BINDING, () => binding)
    .replace(value, () => queue)
    .replace(BROKER_TYPE, (_, gap: string, colour: string) => {
      const width = Math.max(2, gap.length + freed);
      return `${" ".repeat(width)}${colour}${"Queue".padEnd("Durable Object".length)}`;
    })
    .replace(STATUS, "");
}

/** Narrows the first gap of each line by the width that only hidden lines needed. */
function narrowed(lines: readonly string[]): string[] {
  const width = lines.some((line) => line.includes("\n")) ? GAP_WIDTH_WRAPPED : GAP_WIDTH;
  const gaps = lines.map((line) => GAP.exec(line)?.[0].length ?? 0);
  const excess = Math.min(...gaps) - width;
  return excess <= 0 ? [...lines] : lines.map((line) => line.replace(GAP, (gap) => gap.slice(excess)));
}
