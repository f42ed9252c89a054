#!/bin/sh
# Runs `sluice serve` with the options that are given, and understands LocalStack's variables of SQS and SNS.
set -eu

# Open to everybody who reaches the port until a setting says who may use it, as on a machine's own address.
if [ -z "${SLUICE_ENV+set}${SLUICE_API_TOKENS:-}${SLUICE_AWS_ACCESS_KEYS:-}${SLUICE_PUBLIC_URL:-}${SLUICE_TRUST_PROXY:-}" ]; then
  export SLUICE_ENV=local
fi

export SLUICE_AWS_REGION="${SLUICE_AWS_REGION:-${AWS_DEFAULT_REGION:-${DEFAULT_REGION:-}}}"

for service in $(echo "${SERVICES:-}" | tr , ' '); do
  case "${service%%:*}" in
  sqs | sns) ;;
  *) echo "SERVICES names ${service}, which is not here: this is Sluice, with SQS and SNS." >&2 ;;
  esac
done

# LocalStack ends its start with this line, and its Testcontainers modules wait for it.
exec sluice serve --host 0.0.0.0 --port "$EDGE_PORT" --persist-to /data --ready-line Ready. "$@"
