# Turns lines of auth.log, as OpenSSH and sudo write them, into event lines; others are left out.
#
#     Nov 25 02:14:07 web1 sshd[812]: Failed password for invalid user admin from 203.0.113.9 port 51022 ssh2
#
# The year is not in the log; `year` says it. Times are taken as UTC.
function text(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
function emit(type, attributes) {
  split($3, clock, ":")
  printf "{\"type\":\"%s\",\"ts\":\"%d-%02d-%02dT%02d:%02d:%02dZ\",\"attrs\":{\"host\":%s,%s}}\n",
         type, year, month[$1], $2, clock[1], clock[2], clock[3], text($4), attributes
}
# The word behind another one.
function behind(word,   i) { for (i = 6; i < NF; ++i) if ($i == word) return $(i + 1); return "" }

BEGIN {
  split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " ")
  for (i in names) month[names[i]] = i
}
$5 ~ /^sshd\[/ && $6 == "Failed" && $7 == "password" {
  known = $9 != "invalid"
  emit("Failed", "\"user\":" text(known ? $9 : $11) ",\"ip\":" text(behind("from")) ",\"known\":" (known ? "true" : "false"))
}
$5 ~ /^sshd\[/ && $6 == "Accepted" {
  emit("Accepted", "\"user\":" text($9) ",\"ip\":" text(behind("from")) ",\"method\":" text($7))
}
$5 == "sudo:" && /COMMAND=/ {
  command = $0
  sub(/.*COMMAND=/, "", command)
  emit("Sudo", "\"user\":" text($6) ",\"command\":" text(command))
}
