import { call, type QueueView, queuePath } from "../api/call.ts";
import { Compose } from "../message/compose.tsx";

interface SendDialogProps {
  readonly queue: QueueView;
  readonly sent: () => void;
  readonly closed: () => void;
}

/** Sends a message by hand. */
export function SendDialog({ queue: { name, kind }, sent, closed }: SendDialogProps) {
  return (
    <Compose
      title={`Send to ${name}`}
      label="Send"
      hasSamples
      draft={{
        contentType: "json",
        text: '{\n  "hello": "world"\n}',
        delay: "",
        group: kind === "fifo" ? "" : null,
      }}
      send={async (request) => {
        await call(`${queuePath(name)}/messages`, "POST", request);
        sent();
      }}
      closed={closed}
    />
  );
}
