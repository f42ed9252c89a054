import type { PlantedBug } from "../world/planted-bug.ts";
import { ATTEMPT_BUGS } from "./attempt-bugs.ts";
import { CLOCK_BUGS } from "./clock-bugs.ts";
import { CORE_BUGS } from "./core-bugs.ts";
import { DIRECTORY_BUGS } from "./directory-bugs.ts";
import { ENDPOINT_BUGS } from "./endpoint-bugs.ts";
import { MOVE_BUGS } from "./move-bugs.ts";
import { PORT_BUGS } from "./port-bugs.ts";
import { RECEIVER_BUGS } from "./receiver-bugs.ts";
import { SHARD_BUGS } from "./shard-bugs.ts";
import { STORE_BUGS } from "./store-bugs.ts";
import { TOPIC_BUGS } from "./topic-bugs.ts";

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...STORE_BUGS,
  ...PORT_BUGS,
  ...CORE_BUGS,
  ...ENDPOINT_BUGS,
  ...RECEIVER_BUGS,
  ...TOPIC_BUGS,
  ...ATTEMPT_BUGS,
  ...MOVE_BUGS,
  ...DIRECTORY_BUGS,
  ...CLOCK_BUGS,
  ...SHARD_BUGS,
];
