import { WEIGHT_FULL } from "../test/isolate.ts";
import { testSharing } from "../test/shared-call-histories.ts";
import { PATIENCE_MS_MAX, SharedCall } from "./shared-call.ts";

testSharing((ports) => new SharedCall({ ...ports, weightFull: WEIGHT_FULL }), PATIENCE_MS_MAX);
