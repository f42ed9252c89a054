export {
  CALL_LOST_MS,
  CALLS_UNDER_WAY_MAX,
  COALESCE_MS_MAX,
  type KeepAlive,
  LINGER_MS,
  SharedCall,
  SharedCallLostError,
  setTimer,
} from "./shared-call.ts";
export { SharedCalls } from "./shared-calls.ts";
