import { ackedIsFinal } from "./acked-is-final.ts";
import { acknowledgedSurvives } from "./acknowledged-survives.ts";
import { alarmArmed } from "./alarm-armed.ts";
import { attempts } from "./attempts.ts";
import { authorization } from "./authorization.ts";
import type { Checker } from "./checker.ts";
import { conservation } from "./conservation.ts";
import { counters } from "./counters.ts";
import { deadLetterMove } from "./dead-letter-move.ts";
import { directory } from "./directory.ts";
import { drained } from "./drained.ts";
import { dueTime } from "./due-time.ts";
import { fanOut } from "./fan-out.ts";
import { groupOrder } from "./group-order.ts";
import { liveness } from "./liveness.ts";
import { moveTasks } from "./move-tasks.ts";
import { oneLiveLease } from "./one-live-lease.ts";
import { order } from "./order.ts";
import { paused } from "./paused.ts";
import { periodicTasks } from "./periodic-tasks.ts";
import { receiveAttempts } from "./receive-attempts.ts";
import { reload } from "./reload.ts";
import { retention } from "./retention.ts";
import { throttle } from "./throttle.ts";

/** All of them. Two that notice one mistake in the same moment report it in this order. */
export const CHECKERS: readonly Checker[] = [
  acknowledgedSurvives,
  ackedIsFinal,
  oneLiveLease,
  receiveAttempts,
  attempts,
  dueTime,
  retention,
  order,
  groupOrder,
  paused,
  throttle,
  drained,
  authorization,
  periodicTasks,
  fanOut,
  directory,
  moveTasks,
  deadLetterMove,
  conservation,
  counters,
  reload,
  alarmArmed,
  liveness,
];
