import type { QueueRules } from "../src/index.ts";
import { type MessageToSend, Twins, type Verdict } from "./twins.ts";

/** A command; `false` when it can do nothing now, so that no history is gone through twice. */
export type Command = (twins: Twins) => boolean;

export type Alphabet = Readonly<Record<string, Command>>;

/** Commands that every history is longer by: 0 in a run of all tests, 1 takes some 15 times as long. */
const LONGER_BY = Number(process.env.SLUICE_HISTORIES_LONGER ?? 0);

/**
 * Runs every history of up to `lengthMax` commands that begins with `prefix`, on the engine and on the naive queue.
 *
 * @returns how many there were.
 */
export function explore(
  alphabet: Alphabet,
  rules: QueueRules,
  prefix: readonly string[],
  lengthMax: number,
): number {
  let histories = 0;
  let before: Twins | null = null;
  for (const [name, command] of Object.entries(alphabet)) {
    const history = [...prefix, name];
    try {
      before ??= afterAll(alphabet, rules, prefix);
      // A command that can do nothing has changed nothing: the next one finds what it has found.
      if (!command(before)) continue;
      const twins = before;
      before = null;
      twins.commit();
      // Every shorter history was checked before, so only the end is looked at.
      twins.check();
    } catch (error) {
      throw new Error(`${history.join("; ")}: ${error}`, { cause: error });
    }
    histories += 1;
    if (history.length < lengthMax + LONGER_BY) histories += explore(alphabet, rules, history, lengthMax);
  }
  return histories;
}

/** The engine and the naive queue after a history. Throws if one of its commands could do nothing. */
function afterAll(alphabet: Alphabet, rules: QueueRules, history: readonly string[]): Twins {
  const twins = new Twins(rules);
  for (const name of history) {
    if (alphabet[name]?.(twins) !== true) throw new Error(`"${name}" could do nothing`);
    twins.commit();
  }
  return twins;
}

/** Sends messages, as long as there were not more than `messagesMax` with them. */
export function send(messagesMax: number, ...messages: readonly MessageToSend[]): Command {
  return (twins) => {
    if (twins.naive.sent + messages.length > messagesMax) return false;
    twins.send(messages);
    return true;
  };
}

/** Settles messages [from, to) of the lease at that position, and frees its slot. */
export function settle(which: number, from: number, to: number, verdict: Verdict): Command {
  return (twins) => {
    const held = twins.leases.at(which);
    if (held === undefined || from >= held.batch.count) return false;
    twins.settle(held, from, to, verdict);
    twins.end(held, verdict === "release" ? "notRun" : verdict === "ack" ? "ok" : "failed");
    return true;
  };
}

export function pass(ms: number): Command {
  return (twins) => {
    twins.nowMs += ms;
    return true;
  };
}

/** Once something was sent: before that a command does nothing. */
export function afterSends(run: (twins: Twins) => void): Command {
  return (twins) => {
    if (twins.naive.sent === 0) return false;
    run(twins);
    return true;
  };
}

/** With the receipt at that position of all that were given. */
export function withReceipt(
  which: number,
  run: (twins: Twins, held: Twins["receipts"][number]) => void,
): Command {
  return (twins) => {
    const held = twins.receipts.at(which);
    if (held === undefined) return false;
    run(twins, held);
    return true;
  };
}
