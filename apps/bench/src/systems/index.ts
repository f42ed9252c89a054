import { beanstalkd } from "./beanstalkd.ts";
import { bullmq } from "./bullmq.ts";
import { miniflare } from "./miniflare.ts";
import { pgBoss, pgBossNotify } from "./pg-boss.ts";
import { plainjob, plainjobFull } from "./plainjob.ts";
import { sluice } from "./sluice.ts";
import type { System } from "./system.ts";

/** In the order of the tables. */
export const SYSTEMS: readonly System[] = [
  sluice,
  miniflare,
  bullmq,
  pgBoss,
  pgBossNotify,
  beanstalkd,
  plainjob,
  plainjobFull,
];
