import type { DamageEntry, QueueFigures } from "../cluster/queue-figures.ts";
import type { DamageKind } from "./kinds.ts";
import type { Target } from "./state-files.ts";

/** Observations of one queue after the damage. */
export interface Seen {
  readonly queue: string;
  /** Messages that were owed and not delivered. */
  readonly missing: number;
  /** Messages that were settled before and delivered again. */
  readonly again: number;
  /** Damage that the admin API lists; `null` if it does not know the queue or does not answer. */
  readonly damage: readonly DamageEntry[] | null;
  /** Lines of the broker about the queue; it prints such lines only about damage. */
  readonly lines: readonly string[];
  /** Result of a send after the damage. `lost`: it was acknowledged, and its message not delivered. */
  readonly probe: "delivered" | "refused" | "lost";
}

/**
 * Checks what must hold after any damage to a database: the other queues go on whole, and the damaged one reports what
 * it lacks.
 *
 * @returns violations, in words; empty if all is well.
 */
export function judge(target: Target, seen: Seen): string[] {
  const isTarget = target.kind === "queue" && target.name === seen.queue;
  return isTarget ? judgeDamaged(seen) : judgeHealthy(seen);
}

function judgeHealthy({ queue, missing, again, damage, probe }: Seen): string[] {
  const found: string[] = [];
  const say = (text: string) => found.push(`queue "${queue}" was not damaged and ${text}`);
  if (missing > 0) say(`lacks ${missing} message(s)`);
  if (again > 0) say(`delivered ${again} settled message(s) again`);
  if (damage !== null && damage.length > 0) say(`lists damage: ${damage[0]?.text}`);
  if (probe !== "delivered") say(`a send to it was ${probe}`);
  return found;
}

function judgeDamaged({ queue, missing, again, damage, lines, probe }: Seen): string[] {
  const found: string[] = [];
  const say = (text: string) => found.push(`queue "${queue}" was damaged and ${text}`);
  const hasHarm = missing + again > 0 || probe !== "delivered";
  const listed = damage ?? [];
  if (hasHarm && listed.length === 0)
    say(`lists no damage (${missing} missing, ${again} again, probe ${probe})`);
  if (hasHarm && lines.length === 0)
    say(`printed no line (${missing} missing, ${again} again, probe ${probe})`);
  if (probe === "lost") say("a send to it was acknowledged and lost");
  const stated = messagesStated(listed);
  if (listed.length > 0 && missing > stated) say(`lacks ${missing} message(s) and states at most ${stated}`);
  // Lost messages do not explain repeated ones: damage of another kind must be listed.
  if (again > 0 && listed.length > 0 && listed.every(({ kind }) => kind === "messagesLost")) {
    say(`delivered ${again} settled message(s) again and lists lost ones only`);
  }
  return found;
}

/** Most messages that the entries say are lost; Infinity if one of them names no number. */
function messagesStated(entries: readonly DamageEntry[]): number {
  return entries.reduce((sum, { messagesLost }) => sum + (messagesLost ?? Number.POSITIVE_INFINITY), 0);
}

/** Checks that a line reports the damage when the directory has lost everything, or does not list its queues. */
export function judgeDirectory(
  kind: DamageKind,
  figures: readonly QueueFigures[] | null,
  lines: readonly string[],
): string[] {
  // Until the first checkpoint a directory's rows are in its write-ahead log alone: without the log all are lost.
  const isGone = kind === "file removed" || kind === "log removed" || figures === null;
  return isGone && lines.length === 0 ? [`the directory was damaged (${kind}) and no line says so`] : [];
}
