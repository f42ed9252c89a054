import { attempts } from "./attempts.ts";
import type { Checker } from "./checker.ts";
import { deadLetterMove } from "./dead-letter-move.ts";
import { directory } from "./directory.ts";
import { authorization, periodicTasks } from "./endpoints.ts";
import { fanOut } from "./fan-out.ts";
import { oneLiveLease, receiveAttempts } from "./leases.ts";
import { drained, paused, throttle } from "./limits.ts";
import { counters, reload } from "./memory.ts";
import { moveTasks } from "./move-tasks.ts";
import { groupOrder, order } from "./order.ts";
import { ackedIsFinal, acknowledgedSurvives, conservation } from "./stored.ts";
import { dueTime, pace, retention } from "./times.ts";
import { alarmArmed, liveness } from "./wake.ts";

/** All checkers. If several notice a mistake at the same moment, the first of this list reports it. */
export const CHECKERS: readonly Checker[] = [
  ...[acknowledgedSurvives, ackedIsFinal, oneLiveLease, receiveAttempts, attempts, dueTime, pace, retention],
  ...[order, groupOrder, paused, throttle, drained, authorization, periodicTasks, fanOut, directory],
  ...[moveTasks, deadLetterMove, conservation, counters, reload, alarmArmed, liveness],
];
