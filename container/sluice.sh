#!/bin/sh
# Runs `sluice` in the container: on the broker there, unless it is led to another one.
set -eu
case " $* " in
*" --url"*) ;;
*)
  if [ -z "${SLUICE_URL:-}" ]; then
    export SLUICE_URL="http://127.0.0.1:$EDGE_PORT"
    # The first administrator's token. No other broker gets it.
    token="$(printf %s "${SLUICE_API_TOKENS:-}" | cut -d , -f 1 | tr -d '[:space:]')"
    export SLUICE_API_TOKEN="${SLUICE_API_TOKEN:-$token}"
  fi
  ;;
esac
exec /opt/sluice/node_modules/.bin/sluice "$@"
