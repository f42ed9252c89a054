import type { QueueCore } from "@sluice/broker/testing";
import type { MoveTask } from "@sluice/protocol";
import { areDeadLetters } from "../ledger/moved-messages.ts";
import { inCore, inPorts, type PlantedBug } from "../world/planted-bug.ts";
import { alterStore, everyNth } from "./alter.ts";

/** Mistakes in move tasks. */
export const MOVE_BUGS: readonly PlantedBug[] = [
  inCore("move tasks", "now and then messages that are to be moved are not transferred", (core) => {
    const isLeftOut = everyNth(3);
    alterMoved(core, (packed) => (isLeftOut() ? null : packed));
  }),
  inCore("conservation", "messages that are to be moved and not transferred are gone", (core) =>
    alterMoved(core, () => null),
  ),
  inCore("attempts", "a moved message takes along how often it was received", (core) =>
    alterMoved(core, (packed) => {
      const copy = packed.slice();
      // Bytes 4 and 5 of the first record's header: receives in earlier queues.
      new DataView(copy.buffer).setUint16(4, 3, true);
      return copy;
    }),
  ),
  inCore("move tasks", "a move that is transferred again is taken again", ({ inbox }) => {
    inbox.acceptedFrom = () => 0;
  }),
  inPorts("move tasks", "a move task counts one message too many", (ports) =>
    alterStore(ports, {
      writeNote: (key, bytes) => {
        const isMoves = key === "moves" && bytes !== null;
        ports.store.writeNote(key, isMoves ? countingOneMore(bytes) : bytes);
      },
    }),
  ),
  inCore("move tasks", "a move task has no limit of messages a second", ({ moves }) => {
    const { begin } = moves;
    moves.begin = (move) => begin.call(moves, { ...move, ratePerSecond: null });
  }),
  inCore("move tasks", "a move task sends to queues that its caller may not send to", ({ moves }) => {
    const { begin } = moves;
    moves.begin = ({ mayReach: _, ...move }) => begin.call(moves, move);
  }),
  inCore(
    "move tasks",
    "whoever wants a move task to end is told that it has, and it goes on",
    ({ moves }) => {
      moves.cancel = async (taskId) => {
        const task = moves.list().find((known) => known.taskId === taskId);
        return task?.status === "running"
          ? { ok: true, task: { ...task, status: "cancelled" } }
          : { ok: false, reason: "notActive" };
      };
    },
  ),
  inPorts("alarm armed", "a restart forgets move tasks", (ports) =>
    alterStore(ports, { notes: () => [...ports.store.notes()].filter(({ key }) => key !== "moves") }),
  ),
  inCore("liveness", "a move task is never gone on with", ({ moves }) => {
    moves.start = () => {};
  }),
];

/** Changes the batches that leave by move tasks; a batch for which `change` returns `null` is dropped. */
function alterMoved(core: QueueCore, change: (packed: Uint8Array) => Uint8Array | null): void {
  const { outbox, name } = core;
  const { put } = outbox;
  outbox.put = (target, records) => {
    const isMoving = core.moves.list().some(({ status }) => status === "running");
    const changed = records.map((packed) =>
      isMoving && !areDeadLetters(packed, name) ? change(packed) : packed,
    );
    put.call(
      outbox,
      target,
      changed.filter((packed) => packed !== null),
    );
  };
}

function countingOneMore(note: Uint8Array): Uint8Array {
  const [checksum, text] = JSON.parse(new TextDecoder().decode(note)) as [number, string];
  const tasks = (JSON.parse(text) as MoveTask[]).map((task) => ({
    ...task,
    moved: task.moved === 0 ? 0 : task.moved + 1,
  }));
  return new TextEncoder().encode(JSON.stringify([checksum, JSON.stringify(tasks)]));
}
