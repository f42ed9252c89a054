import type { QueueCore } from "@sluice/broker/testing";
import type { MoveTask } from "@sluice/protocol";
import { areDeadLetters } from "../ledger/moved-messages.ts";
import { alterStore, everyNth } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in how move tasks take messages from queue to queue. */
export const MOVE_BUGS: readonly PlantedBug[] = [
  {
    name: "now and then messages that are to be moved are not handed over",
    property: "move tasks",
    changeCore: (core) => {
      const isLeftOut = everyNth(3);
      alterMoved(core, (packed) => (isLeftOut() ? null : packed));
    },
  },
  {
    name: "messages that are to be moved and not handed over are gone",
    property: "conservation",
    changeCore: (core) => alterMoved(core, () => null),
  },
  {
    name: "a moved message takes along how often it was received",
    property: "attempts",
    changeCore: (core) =>
      alterMoved(core, (packed) => {
        const copy = packed.slice();
        // Receives in the queues before, of the first record.
        new DataView(copy.buffer).setUint16(4, 3, true);
        return copy;
      }),
  },
  {
    name: "a move that is handed over again is taken again",
    property: "move tasks",
    changeCore: ({ outbox }) => {
      outbox.takenFrom = () => 0;
    },
  },
  {
    name: "a move task counts one message too many",
    property: "move tasks",
    wrapPorts: (ports) =>
      alterStore(ports, {
        writeNote: (key, bytes) => {
          const isMoves = key === "moves" && bytes !== null;
          ports.store.writeNote(key, isMoves ? countingOneMore(bytes) : bytes);
        },
      }),
  },
  {
    name: "a move task has no limit of messages a second",
    property: "move tasks",
    changeCore: ({ moves }) => {
      const { begin } = moves;
      moves.begin = (move) => begin.call(moves, { ...move, ratePerSecond: null });
    },
  },
  {
    name: "whoever wants a move task to end is told that it has, and it goes on",
    property: "move tasks",
    changeCore: ({ moves }) => {
      moves.cancel = async (taskId) => {
        const task = moves.list().find((known) => known.taskId === taskId);
        return task?.status === "running"
          ? { ok: true, task: { ...task, status: "cancelled" } }
          : { ok: false, reason: "notActive" };
      };
    },
  },
  {
    name: "a restart forgets move tasks",
    property: "alarm armed",
    wrapPorts: (ports) =>
      alterStore(ports, { notes: () => [...ports.store.notes()].filter(({ key }) => key !== "moves") }),
  },
  {
    name: "a move task is never gone on with",
    property: "liveness",
    changeCore: ({ moves }) => {
      moves.start = () => {};
    },
  },
];

/** Changes what leaves by move tasks, or drops it for `null`. */
function alterMoved(core: QueueCore, change: (packed: Uint8Array) => Uint8Array | null): void {
  const { outbox, name } = core;
  const { put } = outbox;
  outbox.put = (target, packed) => {
    const isMoved =
      core.moves.list().some(({ status }) => status === "running") && !areDeadLetters(packed, name);
    const changed = isMoved ? change(packed) : packed;
    if (changed !== null) put.call(outbox, target, changed);
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
