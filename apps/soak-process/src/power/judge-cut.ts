import type { Findings, FoundMessage } from "./look.ts";
import type { Operation, PowerLedger, SentMessage } from "./power-ledger.ts";

/** Inaccuracy of the times of requests, in ms: clients note them as whole numbers. */
const TIME_MS = 5;

/** Line about a queue whose object finds out at its start that the queue was deleted. */
const DELETED = /^Queue "([^"]+)" was deleted; what it held is dropped$/;

/** Moment of a power cut. */
export interface Cut {
  readonly atMs: number;
  /** Names of the answers that had left by then. */
  readonly answers: ReadonlySet<string>;
  /** Whether the running process may have announced its end. */
  readonly mayEndBePlanned: boolean;
}

/** Way of dead letters from a queue to its dead-letter queue. */
export interface DeadLetters {
  readonly from: string;
  readonly to: string;
}

/** Whether every owed message is among the found ones. */
export function isComplete(ledger: PowerLedger, cut: Cut, messages: readonly FoundMessage[]): boolean {
  const found = new Set(messages.map(({ body }) => tagOf(ledger, body)));
  return ledger.messages.every((message) => found.has(message.tag) || !isOwed(message, cut));
}

/** Whether a message has to be there after a cut: its send was answered, and no deletion of it had begun. */
function isOwed({ sent, deletes }: SentMessage, cut: Cut): boolean {
  return isAnswered(sent, cut) && !deletes.some((operation) => isBegun(operation, cut));
}

function isAnswered({ answer }: Operation, { answers }: Cut): boolean {
  return answer !== null && answers.has(answer);
}

function isBegun({ begunMs }: Operation, { atMs }: Cut): boolean {
  return begunMs <= atMs + TIME_MS;
}

/** Compares a broker's state after a power cut with the answers that clients had got. Lists violations, in words. */
export function violationsAfter(
  ledger: PowerLedger,
  cut: Cut,
  findings: Findings,
  dead: DeadLetters,
): string[] {
  const answered = (operation: Operation) => isAnswered(operation, cut);
  const begun = (operation: Operation) => isBegun(operation, cut);
  const violations = findings.damage.flatMap((text) => {
    const deleted = ledger.queues.get(DELETED.exec(text)?.[1] ?? "");
    return deleted?.deletes.some(begun) === true ? [] : `damage: ${text}`;
  });
  const found = Map.groupBy(findings.messages, ({ body }) => tagOf(ledger, body));
  const visible = new Set(findings.visible.map(({ body }) => tagOf(ledger, body)));
  if (found.has(null) || visible.has(null)) violations.push("a message has a body that nobody sent");
  for (const message of ledger.messages) {
    const { tag, queue, sent, receives, deletes } = message;
    const copies = found.get(tag) ?? [];
    const say = (text: string) => violations.push(`message ${tag} of ${queue}: ${text}`);
    const isSettled = deletes.some(answered);
    if (isOwed(message, cut) && copies.length === 0) say("its send was answered, and it is lost");
    if (isSettled && copies.length > 0) say("its deletion was answered, and it came again");
    if (!begun(sent) && copies.length > 0) say("it is there before it was sent");
    if (copies.length > 1) say(`it is there ${copies.length} times`);
    const lease = receives.filter(begun).at(-1);
    if (lease !== undefined && answered(lease) && !isReleased(message, lease, begun) && visible.has(tag)) {
      say("a receiver had it, and somebody else gets it");
    }
    for (const copy of copies) {
      if (copy.queue !== queue && !(queue === dead.from && copy.queue === dead.to))
        say(`it is in ${copy.queue}`);
      // A dead letter is counted anew.
      if (copy.queue !== queue || queue === dead.from) continue;
      const least = receives.filter(answered).length + 1;
      if (copy.receives < least)
        say(`it comes for the ${copy.receives}. time, after ${least - 1} answered receives`);
    }
  }
  if (findings.isEndPlanned && !cut.mayEndBePlanned)
    violations.push("an end is announced that is not the last one");
  violations.push(...disorder(ledger, findings.messages));
  violations.push(...lostQueues(ledger, findings, answered, begun));
  return violations;
}

function tagOf(ledger: PowerLedger, body: string): number | null {
  try {
    return ledger.messageOf(body).tag;
  } catch {
    return null;
  }
}

function isReleased(
  { releases }: SentMessage,
  lease: Operation,
  begun: (operation: Operation) => boolean,
): boolean {
  return releases.some((release) => begun(release) && release.begunMs >= lease.begunMs);
}

/** Lists messages of a group that come before one whose send was answered before theirs began. */
function disorder(ledger: PowerLedger, messages: readonly FoundMessage[]): string[] {
  const inOrder = messages.flatMap(({ body }) => {
    const message = ledger.messages[tagOf(ledger, body) ?? -1];
    return message === undefined || message.group === null ? [] : message;
  });
  const groups = Map.groupBy(inOrder, ({ group }) => group);
  return [...groups].flatMap(([group, sent]) =>
    sent.flatMap((message, i) => {
      const earlier = sent.slice(i + 1).find(({ sent: { answeredMs } }) => {
        return answeredMs !== null && answeredMs + TIME_MS < message.sent.begunMs;
      });
      return earlier === undefined
        ? []
        : `group ${group}: message ${message.tag} comes before ${earlier.tag}`;
    }),
  );
}

function lostQueues(
  ledger: PowerLedger,
  { queues, topics }: Findings,
  answered: (operation: Operation) => boolean,
  begun: (operation: Operation) => boolean,
): string[] {
  const violations: string[] = [];
  for (const { name, created, deletes, retentions, pauses } of ledger.queues.values()) {
    const queue = queues.get(name);
    if (answered(created) && !deletes.some(begun) && queue === undefined)
      violations.push(`queue ${name} is lost`);
    if (deletes.some(answered) && queue !== undefined)
      violations.push(`queue ${name} was deleted, and is there`);
    if (queue === undefined) continue;
    if (!begun(created)) violations.push(`queue ${name} is there before it was created`);
    const isOneOf = <Value>(
      changes: readonly { value: Value; operation: Operation }[],
      first: Value,
      is: Value,
    ) => {
      const last = changes.findLastIndex(({ operation }) => answered(operation));
      const possible = changes.slice(Math.max(0, last)).filter(({ operation }) => begun(operation));
      return possible.some(({ value }) => value === is) || (last === -1 && is === first);
    };
    if (!isOneOf(retentions, retentions[0]?.value ?? "", queue.retention)) {
      violations.push(`queue ${name} has a retention period of ${queue.retention} s, which is not the last`);
    }
    if (!isOneOf(pauses, false, queue.isPaused))
      violations.push(`queue ${name} is paused or not, against the last answer`);
  }
  for (const name of queues.keys())
    if (!ledger.queues.has(name)) violations.push(`nobody created queue ${name}`);
  for (const [name, { created, subscribed }] of ledger.topics) {
    if (answered(created) && !topics.has(name)) violations.push(`topic ${name} is lost`);
    if (answered(subscribed) && topics.get(name) !== 1)
      violations.push(`the subscription of topic ${name} is lost`);
  }
  return violations;
}
