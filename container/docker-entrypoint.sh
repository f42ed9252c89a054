#!/bin/sh
# Runs `sluice serve` with the options that are given, and understands LocalStack's variables of SQS and SNS.
# No names of files stand in the place of a "*" in a variable.
set -euf

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

refuse() {
  echo "$1" >&2
  exit 2
}
case "$EDGE_PORT" in
'' | *[!0-9]*) refuse "EDGE_PORT must be a port, from 1 to 65535, and is \"$EDGE_PORT\"." ;;
esac
[ "$EDGE_PORT" -ge 1 ] && [ "$EDGE_PORT" -le 65535 ] || refuse "EDGE_PORT must be a port, from 1 to 65535, and is $EDGE_PORT."
# The health check asks at EDGE_PORT.
for argument in "$@"; do
  case "$argument" in --port | --port=*) refuse "In the container EDGE_PORT sets the port, in the place of --port." ;; esac
done

# LocalStack ends its start with this line, and its Testcontainers modules wait for it.
exec /opt/sluice/node_modules/.bin/sluice serve --host 0.0.0.0 --port "$EDGE_PORT" --persist-to /data --ready-line Ready. "$@"
