import { expect, it } from "vitest";
import { latency } from "../measure/statistics.ts";
import type { System } from "../systems/system.ts";
import type { Case } from "./cases.ts";
import { compare } from "./compare.ts";

const CASES: readonly Case<"send" | "receive">[] = [
  { way: "send", title: "send", warmUpMessages: 100, step: 100 },
  { way: "receive", title: "receive", warmUpMessages: 100, step: 100 },
];

/** A system whose runs are noted, and end as the test says. */
function system(id: string, noted: string[], outcome: () => number): System<"send" | "receive"> {
  return {
    id,
    name: id,
    acknowledged: "disk",
    clockMs: 0,
    how: "",
    install: async () => {},
    start: async () => ({
      pids: [],
      run: async (way, messages) => {
        noted.push(`${way} ${id}`);
        return {
          messages,
          sentPerSecond: outcome(),
          handledPerSecond: Number.NaN,
          call: latency([]),
          endToEnd: latency([]),
        };
      },
      stop: async () => void noted.push(`stop ${id}`),
    }),
  };
}

const OPTIONS = { runs: 2, runSeconds: 1, warmUpsMax: 1, warmUpScale: 1, mayInstall: false, say: () => {} };

it("lets systems take turns, in an order that is turned round each time", async () => {
  const noted: string[] = [];
  const systems = ["a", "b"].map((id) => system(id, noted, () => 1_000));
  await compare({ ...OPTIONS, systems, cases: CASES });
  const turns = (way: string) => ["a", "b", "b", "a", "a", "b"].map((id) => `${way} ${id}`);
  expect(noted).toEqual([...turns("send"), ...turns("receive"), "stop a", "stop b"]);
});

it("gives the medians of the runs after the warm-up, and the reason of a system that failed", async () => {
  const rates = [9_000, 1_000, 3_000];
  const systems = [
    system("measured", [], () => rates.shift() ?? Number.NaN),
    system("failing", [], () => {
      throw new Error("it is full\nat length");
    }),
  ];
  const [measured, failing] = await compare({ ...OPTIONS, systems, cases: CASES.slice(0, 1) });
  expect(measured?.outcome).toMatchObject({ kind: "measured", summary: { sentPerSecond: 2_000 } });
  expect(failing?.outcome).toEqual({ kind: "failed", reason: "Error: it is full" });
});

it("stops every system, and says of one that it cannot be stopped", async () => {
  const noted: string[] = [];
  const stuck: System<"send" | "receive"> = {
    ...system("stuck", noted, () => 1),
    start: async () => ({
      ...(await system("stuck", noted, () => 1).start()),
      stop: () => Promise.reject(new Error("it has gone")),
    }),
  };
  const systems = [stuck, system("other", noted, () => 1)];
  const say = (line: string) => void noted.push(line);
  await compare({ ...OPTIONS, say, systems, cases: [] });
  expect(noted.slice(-2)).toEqual(["stuck cannot be stopped: it has gone", "stop other"]);
});
