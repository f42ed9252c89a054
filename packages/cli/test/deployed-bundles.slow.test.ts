import { startWorkerd } from "@sluice/protocol/test/workerd-process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lab, openLab } from "./lab.ts";
import { sluice } from "./running.ts";
import { uploaded } from "./uploaded.ts";

let lab: Lab;
beforeAll(() => {
  lab = openLab("staged");
});
afterAll(() => lab.remove());

it("the uploads of a deployment run in workerd alone, without experimental flags", async () => {
  const build = sluice(["build", "sender", "receiver"], lab.folder, lab.env);
  expect(await build.ended, build.output).toBe(0);
  const services = await Promise.all(
    ["sender", "receiver", "sluice"].map((name) => uploaded(name, lab.folder, lab.env)),
  );
  // The broker's flag tells it of clients that have gone; the Workers' flags are their own.
  expect(services.map(({ compatibilityFlags }) => compatibilityFlags)).toEqual([
    [],
    [],
    ["enable_request_signal"],
  ]);
  await using workerd = await startWorkerd(services);
  const response = await workerd.fetch("/?hello");
  expect(await response.text()).toBe("sent");
  await workerd.printed("got ?hello on jobs");
  await workerd.printed("QUEUE jobs 1/1");
});
