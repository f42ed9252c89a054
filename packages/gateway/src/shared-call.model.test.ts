import { testSharing } from "@sluice/protocol/test/shared-call-histories";
import { PATIENCE_MS_MAX, SharedCall } from "./shared-call.ts";

testSharing((ports) => new SharedCall(ports), PATIENCE_MS_MAX);
