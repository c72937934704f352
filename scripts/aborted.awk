# Reads the events of `go test -json` and prints the packages whose test binary ended while tests
# were running: by an exit, a signal or a panic. The tests after those never ran.
function value(name,   at) {
  if (!match($0, "\"" name "\":\"[^\"]*\"")) return ""
  at = RSTART + length(name) + 4
  return substr($0, at, RSTART + RLENGTH - 1 - at)
}
{
  sub(/,"Output":.*/, "")
  action = value("Action"); package = value("Package"); test = value("Test")
}
action == "run" { running[package SUBSEP test] = 1 }
test != "" && (action == "pass" || action == "fail" || action == "skip") { delete running[package SUBSEP test] }
test == "" && (action == "pass" || action == "fail") {
  for (key in running) {
    split(key, part, SUBSEP)
    if (part[1] != package) continue
    if (action == "fail") print package " ended while " part[2] " was running"
    delete running[key]
  }
}
