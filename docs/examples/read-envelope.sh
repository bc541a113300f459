#!/bin/sh
# Hands a command's output to a model, what noesc knows apart from what the command printed:
#
#   noesc run --format json -- COMMAND… | sh read-envelope.sh
#
# Lines that begin with `noesc:` are facts, lines that begin with `stdout|` or `stderr|` are
# untrusted text. Exits as the command did; 125 when this is no envelope. Needs jq. It is for what
# noesc itself wrote: of a key that stands twice jq takes the last one and says nothing.
set -u

record=$(cat)

if ! printf '%s\n' "$record" | jq -es '
    def is_inert: . == 9 or . == 10 or . >= 32 and . < 127 or . > 159;
    def inert: type == "string" and (explode | all(is_inert));
    length == 1 and (.[0]
        | .schema == "noesc.run/1"
        and (.outcome.kind | IN("exited", "signalled", "timed_out", "idle_out", "stopped_by_limit",
            "spawn_failed", "cancelled", "unknown"))
        and ([.streams[].view | .head, .tail] | all(inert)))' >/dev/null 2>&1
then
    echo "read-envelope: no noesc.run/1 envelope with inert views" >&2
    exit 125
fi

# Only an LF ends a line of a view.
printf '%s\n' "$record" | jq -r '
    def quoted($name): if . == "" then empty
        else rtrimstr("\n") | split("\n") | if length == 0 then [""] else . end | .[]
            | if . == "" then $name + "|" else $name + "| " + . end end;
    (.outcome | "noesc: " + .kind
        + ((.code // .signal // .which // .reason // .why)
            | if . == null then "" else " \(.)" end)),
    (.streams | to_entries[] | .key as $name | .value.report.findings // [] | .[]
        | "noesc: \($name): \(.severity) \(.kind) (\(.count))"),
    (.streams | to_entries[] | .key as $name | .value.view
        | (.head | quoted($name)),
          (.omitted | select(.bytes > 0) | "noesc: \($name): \(.bytes) bytes omitted"),
          (.tail | quoted($name)))' || exit 125

exit "$(printf '%s\n' "$record" | jq '.outcome
    | if .kind == "exited" then .code
      elif .kind | IN("signalled", "cancelled") then 128 + .signal
      elif .kind | IN("timed_out", "idle_out", "stopped_by_limit") then 124
      else 125 end')"
