import { bullmq } from "./bullmq.ts";
import { pgBoss, pgBossNotify } from "./pg-boss.ts";
import type { System } from "./system.ts";
import { miniflare, sluice } from "./workers.ts";

/** Systems in the order of the tables. */
export const SYSTEMS: readonly System[] = [sluice, miniflare, bullmq, pgBoss, pgBossNotify];
