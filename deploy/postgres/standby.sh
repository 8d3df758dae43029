#!/bin/sh
# Starts a standby of the server `primary`. In an empty data folder it copies the primary first.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  chmod 0700 "$PGDATA"
  until PGPASSWORD=$REPLICATION_PASSWORD pg_basebackup -d 'host=primary user=replicator application_name=standby' \
    -D "$PGDATA" -R -X stream -c fast; do
    rm -rf "$PGDATA"/*
    sleep 1
  done
fi
exec postgres "$@"
