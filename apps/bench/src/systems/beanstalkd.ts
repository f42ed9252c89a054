import { startChild } from "@sluice/harness/child";
import { accepts } from "../process/accepts.ts";
import { findProgram, installProgram } from "./debian-packages.ts";
import { startPeer } from "./peer.ts";
import type { System } from "./system.ts";

/** With `-b` it writes a log, with `-f0` it syncs it at every write. */
export const beanstalkd: System = {
  id: "beanstalkd",
  name: "beanstalkd (-b DIR -f0)",
  acknowledged: "commit",
  clockMs: 0,
  how: "no bulk command: 100 puts in one write; 30 connections reserve and delete",
  install: async (options) => {
    await installProgram("beanstalkd", "beanstalkd", options);
  },
  start: () =>
    startPeer("beanstalkd", async ({ port, folder }) => {
      const program = (await findProgram("beanstalkd")) ?? "beanstalkd";
      const server = startChild(program, ["-l", "127.0.0.1", "-p", String(port), "-b", folder, "-f0"]);
      await server.ready(() => accepts(port));
      return server;
    }),
};
